"""Which data of a result go into which chart. The charts are drawn by matplotlib and in reports alike."""

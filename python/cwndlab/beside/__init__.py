"""The two backends side by side: one scenario in the simulator and in Linux, and how they differ."""

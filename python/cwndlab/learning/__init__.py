"""Episodes for agents that learn: training and scores. Nothing here needs Gymnasium."""

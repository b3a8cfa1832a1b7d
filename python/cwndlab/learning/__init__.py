"""Episodes for learning agents: training and scores. Nothing here needs Gymnasium."""

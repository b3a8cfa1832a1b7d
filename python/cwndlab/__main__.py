"""`python -m cwndlab`."""

from cwndlab.cli import main

main()

"""The cases of `make bench`: a module for each group of rows, and their inputs."""

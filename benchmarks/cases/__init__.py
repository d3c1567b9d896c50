"""What `make bench` measures: a module for each group of rows, and their inputs."""

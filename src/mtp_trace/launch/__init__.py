"""What is launched: argv, environment, GPU; and readers of the files that launches are written in."""

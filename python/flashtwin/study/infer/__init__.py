"""What a series from anywhere tells: `read` makes it of files, `infer` reads its plateaus."""

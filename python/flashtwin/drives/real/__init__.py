"""Real files through fio: the drive, its target, fio itself, job files and logs."""

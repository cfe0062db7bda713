"""Puts this directory on the path, so that every test may import `fakes`; no test meets the
drives that its user keeps."""

import os

os.environ["FLASHTWIN_CACHE"] = "off"

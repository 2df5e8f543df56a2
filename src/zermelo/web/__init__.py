"""The web page: play, analyse, and watch a run learn, served to a browser on this machine."""

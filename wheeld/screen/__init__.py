"""What people read about a wheel, on a terminal or in a browser, in the language of the screen."""

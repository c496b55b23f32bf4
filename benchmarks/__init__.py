"""What is measured of the package, in folders by what it is about; `register.py` has the names."""

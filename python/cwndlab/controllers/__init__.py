"""Controllers written in Python: declares and loads them, hashes their code, and reports their errors."""

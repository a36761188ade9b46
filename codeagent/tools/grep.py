class Grep:
    name = "grep"

    def __init__(self, w, j):
        pass

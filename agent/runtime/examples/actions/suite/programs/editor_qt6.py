"""A small editor in Qt 6 that opens one file and saves it with Ctrl+S."""

import sys

from PyQt6 import QtGui, QtWidgets

path = sys.argv[1]
application = QtWidgets.QApplication(sys.argv)
window = QtWidgets.QMainWindow()
text = QtWidgets.QPlainTextEdit()
text.setAccessibleName("Text")
with open(path) as file:
    text.setPlainText(file.read())


def save():
    with open(path, "w") as file:
        file.write(text.toPlainText())
    window.setWindowTitle("document.txt")


menu = window.menuBar().addMenu("&File")
action = QtGui.QAction("&Save", window)
action.setShortcut(QtGui.QKeySequence("Ctrl+S"))
action.triggered.connect(save)
menu.addAction(action)
text.textChanged.connect(lambda: window.setWindowTitle("*document.txt"))
window.setCentralWidget(text)
window.resize(700, 500)
window.setWindowTitle("document.txt")
window.show()
text.setFocus()
sys.exit(application.exec())

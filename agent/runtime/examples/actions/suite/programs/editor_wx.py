"""A small editor in wxWidgets that opens one file and saves it with Ctrl+S."""

import sys

import wx

path = sys.argv[1]
application = wx.App()
window = wx.Frame(None, title="document.txt", size=(700, 500))
text = wx.TextCtrl(window, style=wx.TE_MULTILINE)
with open(path) as file:
    text.ChangeValue(file.read())


def save(_):
    with open(path, "w") as file:
        file.write(text.GetValue())
    window.SetTitle("document.txt")


menu = wx.Menu()
window.Bind(wx.EVT_MENU, save, menu.Append(wx.ID_SAVE, "&Save\tCtrl+S"))
bar = wx.MenuBar()
bar.Append(menu, "&File")
window.SetMenuBar(bar)
text.Bind(wx.EVT_TEXT, lambda _: window.SetTitle("*document.txt"))
window.Show()
text.SetFocus()
application.MainLoop()

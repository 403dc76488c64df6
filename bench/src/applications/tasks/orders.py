import json, pathlib, tkinter
from tkinter import ttk

window = tkinter.Tk()
window.title("Orders")
window.geometry("520x300")
customer, amount, material = (tkinter.StringVar() for _ in range(3))
express = tkinter.BooleanVar()
status = tkinter.StringVar(value="Ready")
for row, (name, value) in enumerate({"Customer": customer, "Amount": amount}.items()):
    tkinter.Label(window, text=name).place(x=30, y=30 + 40 * row)
    entry = tkinter.Entry(window, textvariable=value, width=28)
    entry.place(x=140, y=30 + 40 * row)
    if row == 0:
        entry.focus_set()
material.set("Copper")
box = ttk.Combobox(window, textvariable=material, values=["Copper", "Iron", "Nickel", "Silver"], state="readonly")
box.bind("<<ComboboxSelected>>", lambda event: box.selection_clear())
box.place(x=140, y=110, width=160)
tkinter.Checkbutton(window, text="Express delivery", variable=express).place(x=140, y=150)
tkinter.Label(window, textvariable=status).place(x=30, y=230)


def save():
    order = {"customer": customer.get(), "material": material.get(), "amount": amount.get(), "express": express.get()}
    pathlib.Path(__file__).with_name("order.json").write_text(json.dumps(order))
    status.set("Order of " + customer.get() + " is saved")


bar = tkinter.Menu(window)
menu = tkinter.Menu(bar, tearoff=False)
menu.add_command(label="New order", command=lambda: status.set("New"))
menu.add_command(label="Save order", command=save)
bar.add_cascade(label="File", menu=menu)
window.config(menu=bar)
window.mainloop()

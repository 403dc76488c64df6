import java.awt.event.KeyEvent;
import java.nio.file.Files;
import java.nio.file.Path;
import javax.swing.*;
import javax.swing.event.DocumentEvent;
import javax.swing.event.DocumentListener;

/** A small editor in Swing that opens one file and saves it with Ctrl+S. */
public class Editor {
    public static void main(String[] arguments) {
        SwingUtilities.invokeLater(() -> show(Path.of(arguments[0])));
    }

    private static void show(Path path) {
        JFrame window = new JFrame("document.txt");
        JTextArea text = new JTextArea();
        text.getAccessibleContext().setAccessibleName("Text");
        try {
            text.setText(Files.readString(path));
        } catch (java.io.IOException error) {
            throw new java.io.UncheckedIOException(error);
        }
        text.getDocument().addDocumentListener(new DocumentListener() {
            public void insertUpdate(DocumentEvent event) { window.setTitle("*document.txt"); }
            public void removeUpdate(DocumentEvent event) { window.setTitle("*document.txt"); }
            public void changedUpdate(DocumentEvent event) { }
        });
        JMenuItem save = new JMenuItem("Save");
        save.setAccelerator(KeyStroke.getKeyStroke("ctrl S"));
        save.addActionListener(event -> {
            try {
                Files.writeString(path, text.getText());
                window.setTitle("document.txt");
            } catch (java.io.IOException error) {
                throw new java.io.UncheckedIOException(error);
            }
        });
        JMenu menu = new JMenu("File");
        menu.add(save);
        JMenuBar bar = new JMenuBar();
        bar.add(menu);
        window.setJMenuBar(bar);
        window.add(new JScrollPane(text));
        window.setSize(700, 500);
        window.setDefaultCloseOperation(JFrame.EXIT_ON_CLOSE);
        window.setVisible(true);
        text.requestFocusInWindow();
    }
}

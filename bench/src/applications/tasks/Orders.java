import java.awt.GridLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import javax.swing.*;

public class Orders {
    public static void main(String[] words) {
        Path folder = Path.of(System.getProperty("user.home"), "work");
        SwingUtilities.invokeLater(() -> show(folder));
    }

    static void show(Path folder) {
        JFrame frame = new JFrame("Orders");
        JTextField customer = new JTextField(20);
        JSpinner amount = new JSpinner(new SpinnerNumberModel(1, 1, 99, 1));
        JComboBox<String> material = new JComboBox<>(new String[] {"Copper", "Iron", "Nickel", "Silver"});
        JCheckBox express = new JCheckBox("Express delivery");
        JLabel status = new JLabel("Ready");
        JPanel form = new JPanel(new GridLayout(0, 2));
        Object[][] rows = {{"Customer", customer}, {"Amount", amount}, {"Material", material}};
        for (Object[] row : rows) {
            JLabel label = new JLabel((String) row[0]);
            label.setLabelFor((JComponent) row[1]);
            form.add(label);
            form.add((JComponent) row[1]);
        }
        form.add(express);
        form.add(status);
        JMenuBar bar = new JMenuBar();
        JMenu menu = new JMenu("File");
        JMenuItem save = new JMenuItem("Save order");
        save.addActionListener(event -> {
            String order = String.format("{\"customer\": \"%s\", \"material\": \"%s\", \"amount\": \"%s\", \"express\": %s}",
                customer.getText(), material.getSelectedItem(), amount.getValue(), express.isSelected());
            try {
                Files.writeString(folder.resolve("order.json"), order);
                status.setText("Order of " + customer.getText() + " is saved");
            } catch (java.io.IOException error) {
                status.setText(error.getMessage());
            }
        });
        menu.add(save);
        bar.add(menu);
        frame.setJMenuBar(bar);
        frame.add(form);
        frame.setDefaultCloseOperation(JFrame.EXIT_ON_CLOSE);
        frame.setSize(480, 240);
        frame.setVisible(true);
    }
}

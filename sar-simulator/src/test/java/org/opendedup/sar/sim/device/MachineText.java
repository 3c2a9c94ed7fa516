package org.opendedup.sar.sim.device;

import java.io.IOException;
import java.io.InputStream;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;

/** Parameter files of tests: the SAR paper's machine with a line changed. */
final class MachineText {
    private MachineText() {}

    static String sar() throws IOException {
        try (InputStream in = Machine.class.getResourceAsStream("sar.properties")) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    /** With the value of a key replaced; the key must be there. */
    static String sarWith(String key, String value) throws IOException {
        String text = sar();
        String changed = text.replaceAll("(?m)^" + key.replace(".", "\\.") + "=.*$", key + "=" + value);
        if (changed.equals(text)) {
            throw new AssertionError(key + " is not in the file, or has that value");
        }
        return changed;
    }

    static Machine machine(String text) throws IOException {
        return Machine.read("test", new StringReader(text));
    }
}

package org.opendedup.sar.sdfs.cli.control;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Map;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;
import javax.management.JMException;
import javax.management.ObjectName;

/**
 * The daemon's side of what a support bundle says about its JVM: the control command {@value #COMMAND}, whose argument
 * {@code part} names a diagnostic command of the JDK. The reply is compressed, and cut if it is too long for a message.
 */
public final class JvmControl {
    public static final String COMMAND = "jvm";

    public static final String THREADS = "threadPrint";
    /**
     * Counts the objects of each class, those that are no longer reachable too: otherwise the heap is collected first.
     */
    public static final String HISTOGRAM = "gcClassHistogram";

    public static final String FLAGS = "vmFlags";
    public static final String COMMAND_LINE = "vmCommandLine";
    public static final String VERSION = "vmVersion";

    private static final String TEXT = "gzip";

    /** Longest compressed reply, in characters. */
    private static final int REPLY_CHARS_MAX = MessageChannel.LINE_BYTES_MAX * 3 / 4;

    private JvmControl() {}

    /** @throws IOException if the JVM cannot answer; the message is for the client */
    public static Map<String, Object> answer(Map<String, Object> request) throws IOException {
        var arguments = new ControlArguments(request);
        String part = arguments.text("part");
        arguments.end();
        String text = switch (part) {
            case THREADS -> run(part, "-l");
            case HISTOGRAM -> run(part, "-all");
            case FLAGS, COMMAND_LINE, VERSION -> run(part);
            default -> throw new IOException("the daemon knows no part '" + part + "' of " + COMMAND);
        };
        String packed = packed(text);
        while (packed.length() > REPLY_CHARS_MAX) {
            text = text.substring(0, text.length() / 2);
            packed = packed(text + "\n(cut: too long)\n");
        }
        return Map.of(TEXT, packed);
    }

    private static String run(String operation, String... options) throws IOException {
        try {
            var bean = new ObjectName("com.sun.management:type=DiagnosticCommand");
            boolean takesOptions = options.length > 0;
            return String.valueOf(ManagementFactory.getPlatformMBeanServer()
                    .invoke(
                            bean,
                            operation,
                            takesOptions ? new Object[] {options} : new Object[0],
                            takesOptions ? new String[] {String[].class.getName()} : new String[0]));
        } catch (JMException e) {
            throw new IOException("the JVM has no diagnostic command " + operation, e);
        }
    }

    private static String packed(String text) throws IOException {
        var bytes = new ByteArrayOutputStream();
        try (var gzip = new GZIPOutputStream(bytes)) {
            gzip.write(text.getBytes(StandardCharsets.UTF_8));
        }
        return Base64.getEncoder().encodeToString(bytes.toByteArray());
    }

    /** Returns the text of a reply. */
    public static String text(Map<String, Object> reply) throws IOException {
        byte[] bytes = Base64.getDecoder().decode(String.valueOf(reply.get(TEXT)));
        try (var gzip = new GZIPInputStream(new ByteArrayInputStream(bytes))) {
            return new String(gzip.readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}

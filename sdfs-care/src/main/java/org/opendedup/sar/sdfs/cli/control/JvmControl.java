package org.opendedup.sar.sdfs.cli.control;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.Map;
import javax.management.JMException;
import javax.management.ObjectName;

/**
 * The daemon's side of what a support bundle says about its JVM: the control command {@value #COMMAND}, whose argument
 * {@code part} names a diagnostic command of the JDK.
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

    /** What the JVM says. */
    public record Reply(String text) {}

    private JvmControl() {}

    /** @throws IOException if the JVM cannot answer; the message is for the client */
    public static Reply answer(Map<String, Object> request) throws IOException {
        var arguments = new ControlArguments(request);
        String part = arguments.text("part");
        arguments.end();
        return new Reply(
                switch (part) {
                    case THREADS -> run(part, "-l");
                    case HISTOGRAM -> run(part, "-all");
                    case FLAGS, COMMAND_LINE, VERSION -> run(part);
                    default -> throw new IOException("the daemon knows no part '" + part + "' of " + COMMAND);
                });
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
}

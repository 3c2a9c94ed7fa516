package org.opendedup.sar.sdfs.cli.control;

import java.io.Closeable;
import java.io.IOException;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sdfs.jolokia.Agent;
import org.opendedup.sar.sdfs.jolokia.Role;

/**
 * The daemon's side of {@code sdfscli console}: the control command {@value #COMMAND} carries a request of the Jolokia
 * protocol about the volume's beans, and the role of the user who sends it.
 */
public final class JmxControl implements Closeable {
    public static final String COMMAND = "jmx";

    /** The argument with the role of the user, {@link Role}. */
    public static final String ROLE = "role";

    /** The argument with the name of the user of the console, for the audit log; may be missing. */
    public static final String USER = "user";

    /** The argument with the request: JSON in a text. */
    public static final String REQUEST = "request";

    /** The answer of Jolokia: JSON in a text. */
    public static final String ANSWER = "answer";

    private final Agent agent;

    /** @param volume name of the volume in JMX */
    public JmxControl(String volume) {
        agent = new Agent(volume);
    }

    /** @throws IOException if the request is not one of this command, or the volume is being unmounted */
    public Map<String, Object> answer(Map<String, Object> request) throws IOException {
        var arguments = new ControlArguments(request);
        Role role = Role.of(arguments.text(ROLE));
        String jolokia = arguments.text(REQUEST);
        var unused = arguments.textIfAny(USER);
        arguments.end();
        return Map.of(ANSWER, agent.answer(role, jolokia));
    }

    /** Returns whether the arguments of a request are for more than to look. */
    static boolean mayChange(@Nullable Object arguments) {
        return arguments instanceof Map<?, ?> given
                && given.get(REQUEST) instanceof String request
                && Agent.mayChange(request);
    }

    @Override
    public void close() {
        agent.close();
    }
}

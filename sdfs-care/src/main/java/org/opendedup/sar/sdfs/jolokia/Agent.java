package org.opendedup.sar.sdfs.jolokia;

import java.io.ByteArrayInputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.StringReader;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jolokia.json.JSONStructure;
import org.jolokia.json.parser.JSONParser;
import org.jolokia.json.parser.ParseException;
import org.jolokia.server.core.config.ConfigKey;
import org.jolokia.server.core.http.HttpRequestHandler;
import org.jolokia.server.core.request.BadRequestException;
import org.jolokia.server.core.request.EmptyResponseException;
import org.jolokia.server.core.service.JolokiaServiceManagerFactory;
import org.jolokia.server.core.service.api.JolokiaServiceManager;
import org.jolokia.service.jmx.LocalRequestHandler;
import org.jolokia.service.serializer.JolokiaSerializer;

/**
 * Answers requests of the Jolokia protocol about the beans of one volume. Takes memory only from the first request on.
 * Safe for use by many threads.
 */
public final class Agent implements Closeable {
    private static final Set<String> MAY_CHANGE = Set.of("EXEC", "WRITE");

    private final String volume;
    /** Guarded by this. */
    private final Map<Role, Started> started = new EnumMap<>(Role.class);
    /** Guarded by this. */
    private boolean closed;

    private record Started(JolokiaServiceManager manager, HttpRequestHandler handler) {}

    /** @param volume name of the volume in JMX */
    public Agent(String volume) {
        this.volume = volume;
    }

    /**
     * Answers a request, or a list of them.
     *
     * @param request in JSON
     * @return in JSON; what is not allowed, or fails, is an answer with status and error
     * @throws IOException if the volume is being unmounted
     */
    public String answer(Role role, String request) throws IOException {
        HttpRequestHandler handler = handler(role);
        JSONStructure answer;
        try {
            requireTypes(role, request);
            answer = handler.handlePostRequest(
                    "jmx", new ByteArrayInputStream(request.getBytes(StandardCharsets.UTF_8)), "UTF-8", Map.of());
        } catch (BadRequestException | ParseException | EmptyResponseException | RuntimeException e) {
            answer = handler.handleThrowable(e);
        }
        return answer.toJSONString();
    }

    /** Jolokia asks its restrictor about some types only; a client that registers for notifications takes memory. */
    private static void requireTypes(Role role, String request) throws ParseException, IOException {
        for (String type : types(request)) {
            if (VolumeAccess.types(role).stream()
                    .noneMatch(allowed -> allowed.name().equals(type))) {
                throw new SecurityException("requests of this type are not answered");
            }
        }
    }

    /** Returns whether a request, or one of a list of them, calls an operation or sets an attribute. */
    public static boolean mayChange(String request) {
        try {
            return types(request).stream().anyMatch(Agent::isChange);
        } catch (ParseException | IOException | RuntimeException e) {
            return false;
        }
    }

    /** Returns whether a request of this type, in upper case, calls an operation or sets an attribute. */
    public static boolean isChange(String type) {
        return MAY_CHANGE.contains(type);
    }

    private static List<String> types(String request) throws ParseException, IOException {
        Object parsed = new JSONParser().parse(new StringReader(request));
        return (parsed instanceof List<?> all ? all : List.of(parsed))
                .stream()
                        .map(one -> one instanceof Map<?, ?> fields ? String.valueOf(fields.get("type")) : "")
                        .map(type -> type.toUpperCase(Locale.ROOT))
                        .toList();
    }

    private synchronized HttpRequestHandler handler(Role role) throws IOException {
        if (closed) {
            throw new IOException("the volume is being unmounted");
        }
        return started.computeIfAbsent(role, this::start).handler;
    }

    private Started start(Role role) {
        JolokiaServiceManager manager = JolokiaServiceManagerFactory.createJolokiaServiceManager(
                new AgentConfiguration(Map.of(
                        ConfigKey.AGENT_ID, volume + "-" + role,
                        ConfigKey.DISABLE_DETECTORS, "true",
                        ConfigKey.ALLOW_ERROR_DETAILS, "false",
                        ConfigKey.INCLUDE_REQUEST, "false")),
                new AgentLog(),
                new VolumeAccess(volume, role, ManagementFactory.getPlatformMBeanServer()));
        manager.addService(new JolokiaSerializer());
        manager.addService(new LocalRequestHandler(1));
        return new Started(manager, new HttpRequestHandler(manager.start()));
    }

    @Override
    public synchronized void close() {
        closed = true;
        started.values().forEach(one -> one.manager.stop());
        started.clear();
    }
}

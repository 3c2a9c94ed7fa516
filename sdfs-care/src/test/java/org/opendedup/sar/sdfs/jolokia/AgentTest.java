package org.opendedup.sar.sdfs.jolokia;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Map;
import javax.management.ObjectName;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.opendedup.sar.sdfs.jmx.RecordBean;
import org.opendedup.sar.sdfs.jmx.RecordBean.Effect;
import org.opendedup.sar.sdfs.jmx.RecordBean.Limits;
import org.opendedup.sar.sdfs.jmx.VolumeRegistration;

class AgentTest {
    private int threshold = 5;
    private int calls;
    private VolumeRegistration registration;
    private VolumeRegistration other;
    private final Agent agent = new Agent("agent");

    @BeforeEach
    void register() {
        registration = VolumeRegistration.register("agent", beans -> beans.add("Part", bean()));
        other = VolumeRegistration.register("agent2", beans -> beans.add("Part", bean()));
    }

    private RecordBean bean() {
        return new RecordBean("a part")
                .setting(
                        int.class,
                        "Threshold",
                        "A threshold",
                        "references",
                        Limits.range(1, 100),
                        () -> threshold,
                        value -> threshold = value)
                .operation(Effect.LOOKS, int.class, "look", "Looks", "calls", List.of(), arguments -> ++calls)
                .operation(Effect.CHANGES, int.class, "change", "Changes", "calls", List.of(), arguments -> ++calls)
                .operation(
                        Effect.REACHES_THE_MACHINE,
                        int.class,
                        "reach",
                        "Reaches",
                        "calls",
                        List.of(),
                        arguments -> ++calls);
    }

    @AfterEach
    void unregister() {
        agent.close();
        registration.close();
        other.close();
    }

    private Map<String, Object> ask(Role role, String request) throws IOException {
        return Json.read(agent.answer(role, request.replace('\'', '"')));
    }

    private long status(Role role, String request) throws IOException {
        return Json.number(ask(role, request), "status");
    }

    private static String exec(String operation) {
        return "{'type':'exec','mbean':'org.opendedup.sar:type=Part,volume=agent','operation':'" + operation + "'}";
    }

    private static String write(int value) {
        return "{'type':'write','mbean':'org.opendedup.sar:type=Part,volume=agent','attribute':'Threshold','value':"
                + value + "}";
    }

    private static String read(String bean) {
        return "{'type':'read','mbean':'" + bean + "'}";
    }

    @Test
    void aReaderLooksAndAChangerChanges() throws IOException {
        String part = read("org.opendedup.sar:type=Part,volume=agent");
        assertEquals(5, Json.number(Json.object(ask(Role.READ, part), "value"), "Threshold"));
        assertEquals(403, status(Role.READ, write(10)));
        assertEquals(403, status(Role.READ, exec("change")));
        assertEquals(403, status(Role.READ, exec("change()")));
        assertEquals(5, threshold);
        assertEquals(0, calls);
        assertEquals(200, status(Role.READ, exec("look")));
        // The controls.
        assertEquals(200, status(Role.CHANGE, write(10)));
        assertEquals(200, status(Role.CHANGE, exec("change")));
        assertEquals(10, threshold);
        assertEquals(2, calls);
    }

    @Test
    void noRoleReachesFilesOfTheMachine() throws Exception {
        assertEquals(403, status(Role.CHANGE, exec("reach")));
        assertEquals(0, calls);
        // The control: JMX itself does.
        Object done = ManagementFactory.getPlatformMBeanServer()
                .invoke(new ObjectName("org.opendedup.sar:type=Part,volume=agent"), "reach", null, null);
        assertEquals(1, done);
    }

    @Test
    void nothingElseOfTheProcessCanBeReached() throws IOException {
        assertEquals(403, status(Role.CHANGE, read("org.opendedup.sar:type=Part,volume=agent2")));
        assertEquals(403, status(Role.CHANGE, exec("change").replace("volume=agent", "volume=agent2")));
        assertEquals(403, status(Role.CHANGE, exec("change").replace("type=Part", "type=*")));
        assertEquals(403, status(Role.CHANGE, read("java.lang:type=Memory").replace("}", ",'attribute':'Verbose'}")));
        assertEquals(
                403,
                status(
                        Role.CHANGE,
                        "{'type':'exec','mbean':'com.sun.management:type=DiagnosticCommand','operation':'vmVersion'}"));
        assertFalse(agent.answer(Role.CHANGE, "{\"type\":\"read\",\"mbean\":\"*:*\"}")
                .contains("HeapMemoryUsage"));
        assertFalse(agent.answer(Role.CHANGE, "{\"type\":\"list\"}").contains("java.lang"));
        String found = agent.answer(Role.CHANGE, "{\"type\":\"search\",\"mbean\":\"*:*\"}");
        assertTrue(found.contains("volume=agent"), found);
        assertFalse(found.contains("agent2") || found.contains("java.lang"), found);
        assertEquals(403, status(Role.CHANGE, "{'type':'notification','command':'register'}"));
        assertEquals(403, status(Role.CHANGE, "{'type':'config'}"));
        assertEquals(403, status(Role.CHANGE, "[{'type':'version'},{'type':'Notification','command':'register'}]"));
        assertEquals(0, calls);
    }

    @Test
    void whatIsNotARequestIsAnswered() throws IOException {
        assertEquals(403, status(Role.READ, "{'type':'dance'}"));
        assertEquals(500, status(Role.READ, "nonsense"));
        assertEquals(404, status(Role.READ, read("org.opendedup.sar:type=None,volume=agent")));
        assertNotEquals(200, status(Role.CHANGE, write(10).replace("10", "'ten'")));
        assertEquals(5, threshold);
    }

    @Test
    void theEndLeavesNoBeanBehind() throws Exception {
        var own = new ObjectName("jolokia:*");
        var server = ManagementFactory.getPlatformMBeanServer();
        agent.answer(Role.READ, "{\"type\":\"version\"}");
        agent.close();
        assertEquals(0, server.queryNames(own, null).size());
        assertThrows(IOException.class, () -> agent.answer(Role.READ, "{\"type\":\"version\"}"));
    }
}

package org.opendedup.sar.sdfs.cli.daemon;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.objects.lease.LeaseStatus;
import org.opendedup.sar.sdfs.cli.control.ControlServer.Handler;

class LeasedCommandsTest {
    private static final Map<String, Object> DONE = Map.of("done", true);

    @Test
    void nothingIsChangedWithoutTheLease() throws IOException {
        AtomicReference<LeaseStatus> lease = new AtomicReference<>();
        Map<String, Handler> handlers = Map.of("heal", (arguments, caller) -> DONE);
        Handler heal = LeasedCommands.changing(handlers, lease::get).get("heal");
        Handler files = LeasedCommands.of(handlers, lease::get).get("heal");
        Map<String, Object> start = Map.of("action", "start");
        Map<String, Object> status = Map.of("action", "status");
        assertEquals(DONE, heal.answer(start, null), "a volume of this machine");
        lease.set(new LeaseStatus(1, LeaseStatus.VALID, 0, ""));
        assertEquals(DONE, heal.answer(start, null));
        for (String state : new String[] {"expired", "lost"}) {
            lease.set(new LeaseStatus(1, state, 9000, "gone"));
            assertThrows(IOException.class, () -> heal.answer(start, null));
            assertThrows(IOException.class, () -> heal.answer(Map.of("trash", 3), null));
            assertEquals(DONE, heal.answer(status, null), "what this process does can be seen, and stopped");
            assertThrows(IOException.class, () -> files.answer(status, null));
        }
    }
}

package org.opendedup.sar.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;

/** Runs commands of the simulator, and keeps what the last one printed. */
public abstract class CommandTest {
    protected final StringWriter out = new StringWriter();
    protected final StringWriter err = new StringWriter();

    /** Returns the code that the command ends with. */
    protected final int sim(List<String> command, String... more) {
        List<String> all = new ArrayList<>(command);
        all.addAll(List.of(more));
        out.getBuffer().setLength(0);
        err.getBuffer().setLength(0);
        return SarSim.run(new PrintWriter(out, true), new PrintWriter(err, true), all.toArray(String[]::new));
    }

    /** Returns what a command that succeeds prints. */
    protected final JsonNode json(List<String> command, String... more) throws IOException {
        assertEquals(0, sim(command, more), err::toString);
        return new ObjectMapper().readTree(out.toString());
    }
}

package org.opendedup.sar.sim.estimate;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.sim.SarSim;

class ExtentSampleTest {
    @TempDir
    Path folder;

    @Test
    void theSampleOfSomeDataIsTheSameWhereverItLies() throws IOException {
        ObjectNode here = sampleOf(makeFiles(folder.resolve("here")));
        ObjectNode there = sampleOf(makeFiles(folder.resolve("some/where/else")));
        assertEquals(here, there);
    }

    /** Small files, each of a length of its own: the bytes read tell which they were. */
    private static Path makeFiles(Path data) throws IOException {
        Files.createDirectories(data);
        for (int i = 0; i < 20; i++) {
            Files.write(data.resolve("file" + i), new byte[1 << i]);
        }
        return data;
    }

    private static ObjectNode sampleOf(Path data) throws IOException {
        var out = new StringWriter();
        String[] arguments = {"estimate", "--no-progress", "--json", "--sample", "0.5", data.toString()};
        assertEquals(0, SarSim.run(new PrintWriter(out, true), new PrintWriter(new StringWriter()), arguments));
        ObjectNode estimate = (ObjectNode) new ObjectMapper().readTree(out.toString());
        estimate.remove("restores");
        return estimate;
    }
}

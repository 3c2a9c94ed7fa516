package org.opendedup.sar.sim.data;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DataFilesTest {
    @TempDir
    Path folder;

    @Test
    void filesComeInTheOrderOfTheirNames() throws IOException {
        List<String> expected = new ArrayList<>();
        for (int i = 99; i >= 10; i--) {
            String name = "f" + i * 37 % 100;
            Files.createDirectories(folder.resolve(name).resolve("below"));
            Files.writeString(folder.resolve(name).resolve("z"), name);
            Files.writeString(folder.resolve(name).resolve("below/a"), name);
            expected.add(name + "/below/a");
            expected.add(name + "/z");
        }
        List<String> found = new ArrayList<>();
        Path start = folder.toRealPath();
        DataFiles.walk(List.of(folder), new DataFiles.Visitor() {
            @Override
            public void file(Path file, long bytes) {
                found.add(start.relativize(file).toString());
            }

            @Override
            public void unreadable(Path path, IOException why) throws IOException {
                throw why;
            }
        });
        expected.sort(null);
        assertEquals(expected, found);
    }

    @Test
    void aProblemIsToldOnOneLineWhateverTheName() {
        assertEquals(
                "/a\\u000ab\\u001b[31m: does not exist any more",
                DataFiles.problem(Path.of("/a\nb\u001b[31m"), new NoSuchFileException("/x")));
    }
}

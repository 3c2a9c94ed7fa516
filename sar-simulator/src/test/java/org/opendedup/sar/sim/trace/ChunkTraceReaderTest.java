package org.opendedup.sar.sim.trace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.tukaani.xz.LZMA2Options;
import org.tukaani.xz.XZOutputStream;

class ChunkTraceReaderTest {
    private static final String TRACE = "# version 1\n0a 100\nffffffffffffffff 7\n# version 3\n0a 100\n";
    private static final List<String> TOLD = List.of("v1", "10:100", "-1:7", "v3", "10:100");

    @TempDir
    Path folder;

    @Test
    void aTraceIsToldInItsOrder() throws IOException {
        assertEquals(TOLD, read(write(TRACE)));
    }

    @Test
    void xzIsToldByItsFirstBytes() throws IOException {
        assertEquals(TOLD, read(writeXz(TRACE)));
    }

    @Test
    void ofALongFingerprintTheFirst64BitsCount() throws IOException {
        assertEquals(List.of("v1", "1:5", "2:5"), read(write("""
                        # version 1
                        0000000000000001aaaaaaaaaaaaaaaaaaaaaaaa 5
                        0000000000000002aaaaaaaaaaaaaaaaaaaaaaaa 5
                        """)));
    }

    @Test
    void errorsNameFileAndLine() throws IOException {
        assertRefused("# version 1\n0a 100\n0b\n", 3, "'0b'");
        assertRefused("# version 1\nxyz 100\n", 2, "'xyz 100'");
        assertRefused("# version 1\n0a 0\n", 2, "a chunk's length is 1 or more");
        assertRefused("# version 1\n0a 99999999999\n", 2, "99999999999");
        assertRefused("0a 100\n", 1, "a trace begins with '# version 1'");
        assertRefused("# version 2\n# version 2\n", 2, "version numbers rise");
        assertRefused("# version 1\n\n", 2, "''");
        assertRefused("", 1, "no versions");
    }

    @Test
    void whatTheVisitorRefusesIsReportedWithItsLine() throws IOException {
        Path file = write(TRACE);
        var problem = assertThrows(
                TraceFormatException.class,
                () -> ChunkTraceReader.read(file, new ChunkTraceVisitor() {
                    @Override
                    public void version(int number) {}

                    @Override
                    public void chunk(long fingerprint, int bytes) {
                        throw new IllegalArgumentException("too large");
                    }
                }));
        assertEquals(file + ", line 2: '0a 100': too large", problem.getMessage());
    }

    @Test
    void aFileThatWasCutOffIsRefused() throws IOException {
        Path whole = writeXz(TRACE + "0b 9\n".repeat(10_000));
        Path cut = folder.resolve("cut");
        byte[] bytes = Files.readAllBytes(whole);
        Files.write(cut, Arrays.copyOf(bytes, bytes.length / 2));
        String message =
                assertThrows(TraceFormatException.class, () -> read(cut)).getMessage();
        assertEquals(0, message.indexOf(cut + ", line "), message);
    }

    private void assertRefused(String trace, int line, String problem) throws IOException {
        Path file = write(trace);
        String message =
                assertThrows(TraceFormatException.class, () -> read(file)).getMessage();
        assertEquals(0, message.indexOf(file + ", line " + line + ": "), message);
        assertEquals(true, message.contains(problem), message);
    }

    private static List<String> read(Path file) throws IOException {
        List<String> told = new ArrayList<>();
        ChunkTraceReader.read(file, new ChunkTraceVisitor() {
            @Override
            public void version(int number) {
                told.add("v" + number);
            }

            @Override
            public void chunk(long fingerprint, int bytes) {
                told.add(fingerprint + ":" + bytes);
            }
        });
        return told;
    }

    private Path write(String trace) throws IOException {
        return Files.writeString(folder.resolve("trace"), trace);
    }

    private Path writeXz(String trace) throws IOException {
        Path file = folder.resolve("trace.compressed");
        try (OutputStream out = new XZOutputStream(Files.newOutputStream(file), new LZMA2Options())) {
            out.write(trace.getBytes(StandardCharsets.US_ASCII));
        }
        return file;
    }
}

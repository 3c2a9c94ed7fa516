package org.opendedup.sar.sim.block;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.sim.trace.TraceFormatException;

class FiuTraceTest {
    private static final String DIGEST = "0123456789abcdef0123456789ABCDEF";
    private static final String OTHER = "fedcba98765432100123456789abcdef";
    private static final String ZERO_BLOCK = "3df1244f6143869f52abf2a1d73d0c0f";
    private static final String ZERO_SECTOR = "bf619eac0cdf3f68d496ea9344137e8b";

    @TempDir
    Path folder;

    private static String line(long time, int pid, long lba, char operation, String digest) {
        return time + " " + pid + " httpd " + lba + " 8 " + operation + " 8 1 " + digest + "\n";
    }

    private Path file(String name, String text) throws IOException {
        return Files.writeString(folder.resolve(name), text, StandardCharsets.ISO_8859_1);
    }

    /** Requests as text: time in ns, R or W, first block, contents in hex. */
    private static List<String> requests(FiuTrace trace) throws IOException {
        List<String> all = new ArrayList<>();
        BlockRequest request = new BlockRequest();
        while (trace.next(request)) {
            StringBuilder text =
                    new StringBuilder(request.timeNanos() + (request.isWrite() ? " W " : " R ") + request.firstBlock());
            for (int i = 0; i < request.count(); i++) {
                text.append(' ').append(Long.toHexString(request.content(i)));
            }
            all.add(text.toString());
        }
        return all;
    }

    private List<String> requestsOf(String text) throws IOException {
        return requests(new FiuTrace(List.of(file("trace", text)), false));
    }

    @Test
    void aLineWithOneDigestIsARequestOfABlock() throws IOException {
        assertEquals(List.of("5 W 100 123456789abcdef"), requestsOf(line(5, 7, 800, 'W', DIGEST)));
    }

    @Test
    void theNameOfAProcessMayHaveBlanks() throws IOException {
        assertEquals(
                List.of("5 R 100 123456789abcdef"), requestsOf("5 7 my own process 800 8 R 8 1 " + DIGEST + "\r\n"));
    }

    @Test
    void eightDigestsOfSectorsAreOneContent() throws IOException {
        String first = requestsOf(line(5, 7, 800, 'W', DIGEST.repeat(8))).get(0);
        String second =
                requestsOf(line(5, 7, 800, 'W', DIGEST.repeat(7) + OTHER)).get(0);
        String swapped =
                requestsOf(line(5, 7, 800, 'W', OTHER + DIGEST.repeat(7))).get(0);
        assertNotEquals(first, second);
        assertNotEquals(second, swapped);
        assertEquals(
                second,
                requestsOf(line(5, 7, 800, 'W', DIGEST.repeat(7) + OTHER)).get(0));
    }

    @Test
    void zerosAreKnownInBothDialects() throws IOException {
        assertEquals(List.of("5 W 100 0"), requestsOf(line(5, 7, 800, 'W', ZERO_BLOCK)));
        assertEquals(List.of("5 W 100 0"), requestsOf(line(5, 7, 800, 'W', ZERO_SECTOR.repeat(8))));
        assertNotEquals(List.of("5 W 100 0"), requestsOf(line(5, 7, 800, 'W', ZERO_SECTOR.repeat(7) + DIGEST)));
    }

    @Test
    void neighbouringLinesOfOneProcessAreOneRequest() throws IOException {
        assertEquals(
                List.of("5 W 100 123456789abcdef fedcba9876543210", "7 R 102 123456789abcdef", "8 R 200 0"),
                requestsOf(line(5, 7, 800, 'W', DIGEST)
                        + line(6, 7, 808, 'W', OTHER)
                        + line(7, 7, 816, 'R', DIGEST)
                        + line(8, 7, 1600, 'R', ZERO_BLOCK)));
    }

    @Test
    void neighbouringLinesOfTwoProcessesOrFarApartInTimeAreTwoRequests() throws IOException {
        assertEquals(
                2,
                requestsOf(line(5, 7, 800, 'W', DIGEST) + line(6, 8, 808, 'W', OTHER))
                        .size());
        assertEquals(
                2,
                requestsOf(line(5, 7, 800, 'W', DIGEST) + line(2_000_000, 7, 808, 'W', OTHER))
                        .size());
    }

    @Test
    void exactRepetitionsAreDroppedUnlessTheyAreToBeKept() throws IOException {
        String repeated = line(5, 7, 800, 'W', DIGEST).repeat(3);
        FiuTrace dropping = new FiuTrace(List.of(file("trace", repeated)), false);
        assertEquals(1, requests(dropping).size());
        assertEquals(2, dropping.counters().duplicates());
        FiuTrace keeping = new FiuTrace(List.of(file("trace", repeated)), true);
        assertEquals(3, requests(keeping).size());
        assertEquals(2, keeping.counters().duplicates());
    }

    @Test
    void aTarArchiveAroundTheFileIsPassedOver() throws IOException {
        String header = "homes-1.blkparse" + "\0".repeat(241) + "ustar  \0root" + "\0".repeat(243);
        String text = header
                + line(5, 7, 800, 'W', DIGEST)
                + "\0".repeat(400)
                + header
                + line(6, 7, 80, 'R', OTHER)
                + "\0".repeat(9000);
        FiuTrace trace = new FiuTrace(List.of(file("trace.tar", text)), false);
        assertEquals(2, requests(trace).size());
        assertEquals(0, trace.counters().badLines());
        assertEquals(3, trace.counters().archiveHeaders());
    }

    @Test
    void linesThatCantBeReadAreSkippedAndCounted() throws IOException {
        String good = line(5, 7, 800, 'W', DIGEST);
        String text = "what is this\n"
                + good
                + line(6, 7, 800, 'X', DIGEST)
                + line(6, 7, 800, 'W', DIGEST.substring(1))
                + line(6, 7, 800, 'W', "g" + DIGEST.substring(1))
                + "6 7 httpd 800 16 W 8 1 " + DIGEST + "\n"
                + "6 7 httpd -8 8 W 8 1 " + DIGEST + "\n"
                + "99999999999999999999 7 httpd 800 8 W 8 1 " + DIGEST + "\n"
                + DIGEST + "\n"
                + line(9, 7, 8000, 'R', OTHER);
        FiuTrace trace = new FiuTrace(List.of(file("trace", text)), false);
        assertEquals(2, requests(trace).size());
        assertEquals(8, trace.counters().badLines());
        assertEquals(10, trace.counters().lines());
    }

    @Test
    void tooManyBadLinesAreAnErrorThatNamesFileAndLine() throws IOException {
        StringBuilder text = new StringBuilder(line(1, 7, 800, 'W', DIGEST));
        for (int i = 0; i < 20; i++) {
            text.append("rubbish ").append(i).append('\n');
        }
        Path file = file("rubbish", text.toString());
        FiuTrace trace = new FiuTrace(List.of(file), false);
        TraceFormatException refused = assertThrows(TraceFormatException.class, () -> requests(trace));
        assertTrue(refused.getMessage().startsWith(file + ", line 12: "), refused.getMessage());
    }

    @Test
    void aLineWithoutEndIsAnErrorThatNamesFileAndLine() throws IOException {
        Path file = file("endless", line(1, 7, 800, 'W', DIGEST) + "a".repeat(LineBuffer.CAPACITY + 1));
        TraceFormatException refused =
                assertThrows(TraceFormatException.class, () -> requests(new FiuTrace(List.of(file), false)));
        assertTrue(refused.getMessage().startsWith(file + ", line 2: no end"), refused.getMessage());
    }

    @Test
    void aFileWhoseTimesBeginAnewGoesOnAtTheNextDay() throws IOException {
        Path first = file("one", line(5, 7, 800, 'W', DIGEST) + line(1000, 7, 80, 'W', DIGEST));
        Path second = file("two", line(7, 7, 800, 'W', OTHER));
        List<String> all = requests(new FiuTrace(List.of(first, second), false));
        assertEquals("86400000000007 W 100 fedcba9876543210", all.get(2));
    }

    @Test
    void devicesHaveBlocksOfTheirOwn() throws IOException {
        List<String> all = requestsOf("5 7 a 800 8 W 8 1 " + DIGEST + "\n6 7 a 800 8 W 8 2 " + DIGEST + "\n");
        assertEquals("6 W " + (100 + (1L << BlockRequest.DEVICE_BITS)) + " 123456789abcdef", all.get(1));
    }

    @Test
    void aGzippedFileIsReadAsItIs() throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (OutputStream out = new GZIPOutputStream(bytes)) {
            out.write(line(5, 7, 800, 'W', DIGEST).getBytes(StandardCharsets.US_ASCII));
        }
        Path file = Files.write(folder.resolve("trace.gz"), bytes.toByteArray());
        assertEquals(1, requests(new FiuTrace(List.of(file), false)).size());
    }

    @Test
    void linesThatCrossTheBuffersEndAreWhole() throws IOException {
        StringBuilder text = new StringBuilder();
        int lines = 40_000;
        for (int i = 0; i < lines; i++) {
            text.append(line(10L * i, 7, 80L * i, 'R', DIGEST));
        }
        assertTrue(text.length() > 2 * LineBuffer.CAPACITY);
        FiuTrace trace = new FiuTrace(List.of(file("long", text.toString())), false);
        assertEquals(lines, requests(trace).size());
        assertEquals(0, trace.counters().badLines());
    }
}

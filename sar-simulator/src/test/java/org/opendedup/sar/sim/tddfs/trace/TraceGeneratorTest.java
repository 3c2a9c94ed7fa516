package org.opendedup.sar.sim.tddfs.trace;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class TraceGeneratorTest {
    private static FileTrace syn(double readShare, long seed) {
        return TraceGenerator.make(TraceShape.SYN, new TraceGenerator.Mix(0.2, readShare, 1, seed));
    }

    @Test
    void theSameSeedMakesTheSameTraceAndAnotherSeedAnotherOne() {
        assertEquals(syn(0.8, 1).requests(), syn(0.8, 1).requests());
        assertArrayEquals(syn(0.8, 1).sizes(), syn(0.8, 1).sizes());
        assertNotEquals(syn(0.8, 1).requests(), syn(0.8, 2).requests());
    }

    @Test
    void anotherShareOfReadsChangesOnlyTheKinds() {
        FileTrace few = syn(0.1, 1);
        FileTrace many = syn(0.9, 1);
        assertEquals(0.1, few.readShare(), 0.01);
        assertEquals(0.9, many.readShare(), 0.01);
        assertArrayEquals(few.sizes(), many.sizes());
        for (int i = 0; i < few.requests().size(); i++) {
            FileRequest one = few.requests().get(i);
            FileRequest other = many.requests().get(i);
            assertEquals(
                    List.of(one.file(), one.offset(), one.length()),
                    List.of(other.file(), other.offset(), other.length()));
        }
    }

    @Test
    void countsAndBytesAreThoseOfTheScaledTable() {
        for (TraceShape shape : TraceShape.values()) {
            FileTrace trace = TraceGenerator.make(shape, new TraceGenerator.Mix(0.1, shape.readShare(), 1, 7));
            assertEquals(shape.files() / 10, trace.sizes().length, shape.label());
            assertEquals(shape.requests() / 10, trace.requests().size(), shape.label());
            assertEquals(1, trace.totalBytes() / (shape.totalBytes() * 0.1), 0.01, shape.label());
            assertEquals(shape.readShare(), trace.readShare(), 0.02, shape.label());
        }
    }

    @Test
    void aFifthOfTheFilesHasFourFifthsOfRequestsAndBytes() {
        FileTrace trace = syn(0.8, 3);
        long[] sizes = trace.sizes();
        int[] requests = new int[sizes.length];
        trace.requests().forEach(request -> requests[request.file()]++);
        List<Integer> busiest = IntStream.range(0, sizes.length)
                .boxed()
                .sorted(Comparator.comparingInt((Integer file) -> requests[file])
                        .reversed())
                .limit(sizes.length / 5)
                .toList();
        double requestShare = busiest.stream().mapToInt(file -> requests[file]).sum()
                / (double) trace.requests().size();
        double byteShare = busiest.stream().mapToLong(file -> sizes[file]).sum() / (double) trace.totalBytes();
        assertEquals(0.8, requestShare, 0.01);
        assertEquals(0.8, byteShare, 0.01);
        // The control: the files that are created first have no such share.
        double firstShare = Arrays.stream(sizes, 0, sizes.length / 5).sum() / (double) trace.totalBytes();
        assertTrue(firstShare < 0.4, () -> "the first files have " + firstShare);
    }

    @Test
    void fourFifthsOfAFilesRequestsFollowItsFirstOneSoon() {
        FileTrace trace = syn(0.8, 5);
        // The requests are not spread evenly over the time, so their number is only near their time.
        assertEquals(0.8, shareWithin(0.25, trace), 0.06);
        assertEquals(0.64, shareWithin(0.05, trace), 0.06, "of these, again four fifths in a fifth of that time");
        FileTrace even = TraceGenerator.make(TraceShape.SYN, new TraceGenerator.Mix(0.2, 0.8, 1, 5, true, false));
        assertEquals(0.8, shareWithin(0.25, even), 0.06);
        assertTrue(shareWithin(0.05, even) < 0.3, "the control: times that are equally likely");
    }

    /** Returns the share of requests that follow the first one to their file within a share of the trace. */
    private static double shareWithin(double share, FileTrace trace) {
        int count = trace.requests().size();
        int[] first = new int[trace.sizes().length];
        Arrays.fill(first, -1);
        int soon = 0;
        int all = 0;
        for (int i = 0; i < count; i++) {
            int file = trace.requests().get(i).file();
            if (first[file] < 0) {
                first[file] = i;
                continue;
            }
            all++;
            soon += i - first[file] < share * count ? 1 : 0;
        }
        return (double) soon / all;
    }

    @Test
    void requestsLieWithinTheirFilesAndCoverUpToTheirShare() {
        FileTrace trace = TraceGenerator.make(TraceShape.LAB, new TraceGenerator.Mix(0.2, 0.1, 0.25, 1));
        long[] sizes = trace.sizes();
        double longest = 0;
        for (FileRequest request : trace.requests()) {
            assertTrue(request.end() <= sizes[request.file()], request::toString);
            longest = Math.max(longest, (double) request.length() / sizes[request.file()]);
        }
        assertEquals(0.25, longest, 0.01);
    }

    @Test
    void mailReadsWholeFilesAndAppends() {
        FileTrace trace = TraceGenerator.make(TraceShape.VAR, new TraceGenerator.Mix(0.1, 0.45, 1, 1));
        long[] sizes = trace.sizes();
        int created = 0;
        int appended = 0;
        for (FileRequest request : trace.requests()) {
            switch (request.kind()) {
                case READ -> assertEquals(sizes[request.file()], request.length());
                case WRITE -> {
                    assertEquals(sizes[request.file()], request.offset());
                    sizes[request.file()] = request.end();
                    appended++;
                }
                case CREATE -> {
                    sizes[request.file()] = request.length();
                    created++;
                }
                case DELETE -> throw new AssertionError("varmail's deletions are part of its creations");
            }
        }
        assertEquals(1, (double) created / appended, 0.15);
    }

    @Test
    void mailThatOverwritesCreatesNothing() {
        TraceGenerator.Mix mix = new TraceGenerator.Mix(0.1, 0.45, 1, 1, false, true);
        FileTrace trace = TraceGenerator.make(TraceShape.VAR, mix);
        assertTrue(trace.requests().stream().noneMatch(request -> request.kind() == FileRequest.Kind.CREATE));
        assertTrue(trace.requests().stream()
                .anyMatch(request -> request.kind() == FileRequest.Kind.WRITE && request.offset() == 0));
    }

    @Test
    void wrongSharesAreRefused() {
        assertThrows(IllegalArgumentException.class, () -> new TraceGenerator.Mix(0, 0.5, 1, 1));
        assertThrows(IllegalArgumentException.class, () -> new TraceGenerator.Mix(1, 1.1, 1, 1));
        assertThrows(IllegalArgumentException.class, () -> new TraceGenerator.Mix(1, 0.5, 0, 1));
    }
}

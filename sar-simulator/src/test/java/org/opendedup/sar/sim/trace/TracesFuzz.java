package org.opendedup.sar.sim.trace;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.opendedup.sar.fuzz.FuzzFolder;
import org.opendedup.sar.fuzz.ParserSet;
import org.opendedup.sar.sim.block.BlockRequest;
import org.opendedup.sar.sim.block.FiuTrace;

/** Traces of chunks and of blocks. */
public final class TracesFuzz {
    private static final ParserSet PARSERS = new ParserSet()
            .addDeclaring(
                    "chunks",
                    List.of(IOException.class),
                    TracesFuzz::chunks,
                    "version 1\n00ff 4096\nabcdef0123456789abcd 1\nversion 2\n1 5\n".getBytes(US_ASCII))
            .addDeclaring("blocks", List.of(IOException.class), TracesFuzz::blocks, """
                    89966104998437 4892 syslogd 904265560 8 W 6 0 531e779f92f72aa8c1ae1aedaf9a1da5
                    89967216387474 2522 kjournald 509006216 8 R 6 0 d8a6eb1c5a5a7b33d0a9c8b3c1a1a1b1
                    """.getBytes(US_ASCII));

    private TracesFuzz() {}

    public static ParserSet parsers() {
        return PARSERS;
    }

    public static void fuzzerTestOneInput(byte[] input) {
        PARSERS.parse(input);
    }

    private static void chunks(byte[] bytes) throws IOException {
        ChunkTraceReader.read(fileOf(bytes), new ChunkTraceVisitor() {
            @Override
            public void version(int number) {
                if (number < 1) {
                    throw new AssertionError("version " + number);
                }
            }

            @Override
            public void chunk(long fingerprint, int length) {
                if (length < 1) {
                    throw new AssertionError("a chunk of " + length + " bytes");
                }
            }
        });
    }

    private static void blocks(byte[] bytes) throws IOException {
        try (FiuTrace trace = new FiuTrace(List.of(fileOf(bytes)), false)) {
            BlockRequest request = new BlockRequest();
            while (trace.next(request)) {
                if (request.count() < 1) {
                    throw new AssertionError("a request without blocks");
                }
            }
        }
    }

    private static Path fileOf(byte[] bytes) throws IOException {
        return Files.write(FuzzFolder.emptied().resolve("trace"), bytes);
    }
}

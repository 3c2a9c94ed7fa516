package org.opendedup.sar.volume.stream;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.opendedup.sar.fuzz.FuzzInputs.resource;

import java.io.EOFException;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.UnsupportedFormatException;
import org.opendedup.sar.fuzz.ParserSet;

/** Streams of snapshots: their frames, and what is in a message behind its checksum. */
public final class StreamFuzz {
    private static final ParserSet PARSERS = new ParserSet()
            .addDeclaring(
                    "stream",
                    List.of(CorruptionException.class, UnsupportedFormatException.class, EOFException.class),
                    bytes -> StreamFormatTest.read(bytes, null),
                    resource(StreamFuzz.class, "stream-v1.bin"))
            .add("message", StreamFuzz::message, StreamFormatTest.payloads())
            .addDeclaring(
                    "point",
                    List.of(IllegalArgumentException.class),
                    StreamFuzz::point,
                    "01234567-89ab-cdef-0123-456789abcdef:12:1764460800000//77/3".getBytes(UTF_8));

    private StreamFuzz() {}

    public static ParserSet parsers() {
        return PARSERS;
    }

    public static void fuzzerTestOneInput(byte[] input) {
        PARSERS.parse(input);
    }

    /** What is decoded stays the same when it is encoded and decoded again. */
    private static void message(byte[] bytes) throws IOException {
        try (MessageFormat format = new MessageFormat()) {
            byte[] once = format.encode(format.decode(bytes, "the stream", 0));
            byte[] twice = format.encode(format.decode(once, "the stream", 0));
            if (!Arrays.equals(once, twice)) {
                throw new AssertionError("another message");
            }
        }
    }

    private static void point(byte[] bytes) {
        StreamPoint point = StreamPoint.parse(new String(bytes, UTF_8));
        if (!StreamPoint.parse(point.toString()).equals(point)) {
            throw new AssertionError(point.toString());
        }
    }
}

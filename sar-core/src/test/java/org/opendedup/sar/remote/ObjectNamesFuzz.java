package org.opendedup.sar.remote;

import static java.nio.charset.StandardCharsets.US_ASCII;

import org.opendedup.sar.fuzz.ParserSet;

/** Names of objects in {@code readers/} and {@code tails/}, as a list of a store shows them. */
public final class ObjectNamesFuzz {
    private static final ParserSet PARSERS = new ParserSet()
            .add("reader", ObjectNamesFuzz::reader, "readers/r1/000000000000000a-copying".getBytes(US_ASCII))
            .add(
                    "tail",
                    ObjectNamesFuzz::tail,
                    PackNames.tail("00000000/000000000007.pack", 700).getBytes(US_ASCII));

    private ObjectNamesFuzz() {}

    public static ParserSet parsers() {
        return PARSERS;
    }

    public static void fuzzerTestOneInput(byte[] input) {
        PARSERS.parse(input);
    }

    private static void reader(byte[] bytes) {
        String name = new String(bytes, US_ASCII);
        ReaderNames.Parts parts = ReaderNames.parse(name);
        if (parts != null && !ReaderNames.of(parts).equals(name)) {
            throw new AssertionError(name + " becomes " + ReaderNames.of(parts));
        }
    }

    private static void tail(byte[] bytes) {
        String name = PackNames.TAILS + new String(bytes, US_ASCII);
        String pack = PackNames.packOf(name);
        long offset = PackNames.offsetOf(name);
        if (!pack.isEmpty() && offset >= 0 && !PackNames.tail(pack, offset).equals(name)) {
            throw new AssertionError(name + " becomes " + PackNames.tail(pack, offset));
        }
    }
}

package org.opendedup.sar.metadata.remote;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.UnsupportedFormatException;
import org.opendedup.sar.crypt.KeyedHash;
import org.opendedup.sar.crypt.Purpose;
import org.opendedup.sar.crypt.TestKeys;
import org.opendedup.sar.fuzz.ParserSet;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;

/** The bytes of the objects, as docs/FORMAT.md specifies them. A change of these is a change of a format. */
final class RemoteFormatTest {
    private static final String HEADER = "5341524c" + "0100" + "%s" + "00" + "0807060504030201" + "1817161514131211"
            + "0300000000000000" + "2827262524232221" + "0700000000000000" + "6100000000000000" + "%s" + "44434241";

    private static byte[] golden(String kind, String last, String body) {
        byte[] bytes = HexFormat.of().parseHex(String.format(HEADER, kind, last) + body + "00000000");
        return ParserSet.withCrc(bytes, -Integer.BYTES);
    }

    @Test
    void theBytesOfSegmentsAreThese() {
        assertArrayEquals(
                golden("01", "6300000000000000", "0d000000" + "02" + "02020102" + "04030405" + "01010600"),
                RemoteFormatFuzz.changes());
        assertArrayEquals(
                golden("02", "6100000000000000", "10000000" + "0400000000000000" + "0500000000000000"),
                RemoteFormatFuzz.end());
        assertArrayEquals(
                golden(
                        "03",
                        "6400000000000000",
                        "51000000" + "34333231"
                                + HexFormat.of().formatHex(RemoteFormatFuzz.CHECKPOINT.getBytes(US_ASCII))),
                RemoteFormatFuzz.leap());
    }

    @Test
    void theLinesOfAListAreThese() {
        String lines = "SAR-METADATA-CHECKPOINT 1\n"
                + "volume 01020304-0506-0708-1112-131415161718\n"
                + "point 3 2122232425262728 7 fffffffe 97\n"
                + "sequence 99\n"
                + "ahead 1\n"
                + "created 1000\n"
                + "file CURRENT 16 12345678 metadata/files/0000000000000003-1-CURRENT\n";
        assertEquals(
                lines + String.format("crc %08x\n", TextFile.crc(lines)),
                new String(RemoteFormatFuzz.list(), US_ASCII));
    }

    /** Families have their numbers in segments: a new one goes to the end. */
    @Test
    void familiesKeepTheirNumbers() {
        assertEquals(
                List.of(
                        "SYSTEM",
                        "INODE",
                        "ENTRY",
                        "XATTR",
                        "RECIPE",
                        "COUNT",
                        "ORPHAN",
                        "CONTAINER",
                        "INTENT",
                        "RAW",
                        "VERSION",
                        "DEATH"),
                Arrays.stream(Family.values()).map(Enum::name).toList());
    }

    @Test
    void otherVersionsAreRefused() {
        byte[] segment = RemoteFormatFuzz.end();
        segment[4] = 2;
        assertThrows(UnsupportedFormatException.class, () -> LogSegment.decode(segment, "a segment", null));
        byte[] list = new String(RemoteFormatFuzz.list(), US_ASCII)
                .replace("CHECKPOINT 1\n", "CHECKPOINT 2\n")
                .getBytes(US_ASCII);
        assertThrows(UnsupportedFormatException.class, () -> CheckpointFormat.decode(list, "a list", null));
    }

    @Test
    void whoHasNoKeyOfTheVolumeWritesNothingThatIsTaken() throws IOException {
        KeyedHash key = TestKeys.of(1).keyedHash(Purpose.LISTS);
        LogSegment segment = LogSegment.decode(RemoteFormatFuzz.end(), "a segment", null);
        assertEquals(segment, LogSegment.decode(segment.encode(key), "a segment", key));
        byte[] others = segment.encode(TestKeys.of(2).keyedHash(Purpose.LISTS));
        assertThrows(CorruptionException.class, () -> LogSegment.decode(others, "a segment", key));
        assertThrows(CorruptionException.class, () -> LogSegment.decode(RemoteFormatFuzz.end(), "a segment", key));

        Checkpoint list = CheckpointFormat.decode(RemoteFormatFuzz.list(), "a list", null);
        assertEquals(list, CheckpointFormat.decode(CheckpointFormat.encode(list, key), "a list", key));
        byte[] othersList = CheckpointFormat.encode(list, TestKeys.of(2).keyedHash(Purpose.LISTS));
        assertThrows(CorruptionException.class, () -> CheckpointFormat.decode(othersList, "a list", key));
        assertThrows(CorruptionException.class, () -> CheckpointFormat.decode(RemoteFormatFuzz.list(), "a list", key));
    }
}

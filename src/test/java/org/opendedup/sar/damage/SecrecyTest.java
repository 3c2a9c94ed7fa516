package org.opendedup.sar.damage;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.chunk.Chunker;
import org.opendedup.sar.chunk.Chunkers;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.common.ContentHash;
import org.opendedup.sar.common.ContentHasher;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.container.PackedContainer;
import org.opendedup.sar.container.format.ContainerFormat;
import org.opendedup.sar.container.format.FrameFormat;
import org.opendedup.sar.model.TestVolumes;

/**
 * What somebody finds who has all disks of a volume, twice, and knows some of its content. The volume with chunks of
 * variable length is encrypted; the other one is the control, in which everything is found.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SecrecyTest {
    private static final int CONTENT_STEP = 997;
    private static final int BLOCK = 4096;
    /** Seven standard deviations above the mean of chi-squared with 255 degrees of freedom. */
    private static final double MOST_CHI_SQUARED = 255 + 7 * Math.sqrt(2 * 255);

    private static final int TAG_BYTES = 16;

    private final Map<Chunking, SampleVolume> samples = new EnumMap<>(Chunking.class);
    private Path folder;

    @BeforeAll
    void makeVolumes() throws IOException {
        folder = Files.createTempDirectory("sar-secrecy");
        for (Chunking chunking : Chunking.values()) {
            samples.put(chunking, new SampleVolume(folder.resolve(chunking.name()), chunking, TestSeed.next()));
        }
    }

    @AfterAll
    void removeVolumes() throws IOException {
        SampleVolume.delete(folder);
    }

    private static boolean isEncrypted(Chunking chunking) {
        return TestVolumes.config(Path.of("none"), chunking).keys() != null;
    }

    @ParameterizedTest
    @EnumSource
    void knownNamesContentAndFingerprintsAreInNoByteOfAnyLocation(Chunking chunking) throws IOException {
        SampleVolume sample = samples.get(chunking);
        Map<Long, List<Needle>> needles = needles(sample, chunking);
        Set<String> found = new TreeSet<>();
        for (Path state : List.of(sample.folder, sample.earlier)) {
            for (Map.Entry<String, Path> file : SampleVolume.filesOf(state).entrySet()) {
                String location = file.getKey().substring(0, file.getKey().indexOf('/'));
                search(Files.readAllBytes(file.getValue()), needles, location, found);
            }
        }
        if (isEncrypted(chunking)) {
            assertEquals(Set.of(), found);
        } else {
            assertTrue(
                    found.containsAll(List.of(
                            "data: content",
                            "data: fingerprint",
                            "hashdb: fingerprint",
                            "metadata: secret word",
                            "ssd: content",
                            "ssd: fingerprint")),
                    found::toString);
        }
    }

    /** Known bytes, at least eight. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Needle(String kind, byte[] bytes) {}

    /** Returns what is looked for, by its first eight bytes. */
    private static Map<Long, List<Needle>> needles(SampleVolume sample, Chunking chunking) {
        List<Needle> all = new ArrayList<>();
        all.add(new Needle("secret word", SampleVolume.SECRET.getBytes(US_ASCII)));
        sample.attributes.values().forEach(value -> all.add(new Needle("attribute", Arrays.copyOf(value, 16))));
        Chunker chunker = Chunkers.of(
                chunking, TestVolumes.config(Path.of("none"), chunking).keys());
        ContentHasher hasher = new ContentHasher();
        for (byte[] content : sample.files.values()) {
            for (int at = 0; at + 16 <= content.length; at += CONTENT_STEP) {
                byte[] window = Arrays.copyOfRange(content, at, at + 16);
                if (!Arrays.equals(window, new byte[16])) {
                    all.add(new Needle("content", window));
                }
            }
            for (int at = 0; at < content.length; ) {
                int length = chunker.cut(content, at, content.length, true);
                byte[] fingerprint = new byte[Fingerprints.BYTES];
                hasher.fingerprint(ContentHash.SHA_256, content, at, length, fingerprint, 0);
                all.add(new Needle("fingerprint", Arrays.copyOf(fingerprint, 16)));
                at += length;
            }
        }
        Map<Long, List<Needle>> needles = new HashMap<>();
        for (Needle needle : all) {
            needles.computeIfAbsent(ByteBuffer.wrap(needle.bytes).getLong(), key -> new ArrayList<>())
                    .add(needle);
        }
        return needles;
    }

    private static void search(byte[] bytes, Map<Long, List<Needle>> needles, String location, Set<String> found) {
        ByteBuffer hay = ByteBuffer.wrap(bytes);
        for (int at = 0; at + Long.BYTES <= bytes.length; at++) {
            for (Needle needle : needles.getOrDefault(hay.getLong(at), List.of())) {
                int end = at + needle.bytes.length;
                if (end <= bytes.length && Arrays.equals(bytes, at, end, needle.bytes, 0, needle.bytes.length)) {
                    found.add(location + ": " + needle.kind);
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void framesLookLikeRandomBytes(Chunking chunking) throws IOException {
        int blocks = 0;
        int patterns = 0;
        for (PackedContainer container :
                PackedContainer.in(samples.get(chunking).folder.resolve("data"))) {
            byte[] all = container.read();
            int tag = isEncrypted(chunking) ? TAG_BYTES : 0;
            int at = ContainerFormat.HEADER_BYTES;
            FrameFormat.Header header = FrameFormat.readHeader(all, at, container.directoryOffset());
            while (header != null) {
                int from = at + FrameFormat.HEADER_BYTES;
                for (int block = from; block + BLOCK <= from + header.contentBytes() + tag; block += BLOCK) {
                    blocks++;
                    patterns += chiSquared(all, block) > MOST_CHI_SQUARED ? 1 : 0;
                }
                at += header.frameBytes();
                header = FrameFormat.readHeader(all, at, container.directoryOffset());
            }
        }
        assertTrue(blocks > 100, blocks + " blocks");
        // The control: content that does not shrink is stored as it is, with its patterns.
        assertEquals(!isEncrypted(chunking), patterns > 0, patterns + " of " + blocks);
    }

    /** How far the frequencies of byte values in a block are from equal ones. */
    private static double chiSquared(byte[] bytes, int from) {
        int[] counts = new int[256];
        for (int i = from; i < from + BLOCK; i++) {
            counts[bytes[i] & 0xff]++;
        }
        double expected = BLOCK / 256.0;
        double sum = 0;
        for (int count : counts) {
            sum += (count - expected) * (count - expected) / expected;
        }
        return sum;
    }
}

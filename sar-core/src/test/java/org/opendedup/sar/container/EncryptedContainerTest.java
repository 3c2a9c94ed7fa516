package org.opendedup.sar.container;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.StoredContainer;
import org.opendedup.sar.common.UnsupportedFormatException;
import org.opendedup.sar.container.format.Compression;
import org.opendedup.sar.container.format.Compressor;
import org.opendedup.sar.container.format.ContainerCipher;
import org.opendedup.sar.container.format.ContainerFormat;
import org.opendedup.sar.container.format.FrameDecoder;
import org.opendedup.sar.container.format.FrameFormat;
import org.opendedup.sar.container.format.FrameTable;
import org.opendedup.sar.container.format.LocatedTable;
import org.opendedup.sar.crypt.AeadCipher;
import org.opendedup.sar.io.CrashDirectory;

/**
 * What somebody who has the packs of an encrypted volume can find in them, and change in them. The same done to a
 * volume without keys is the control.
 */
final class EncryptedContainerTest extends StoreTest {
    private static final int PROBE_BYTES = 8;

    private final Compressor decompressor = new Compressor(new Compression(Compression.Codec.NONE, 0, 4096));

    private static ContainerCipher encrypting(int volume) {
        return ContainerCipher.of(TestCiphers.keys(volume, AeadCipher.AES_256_GCM));
    }

    /** Writes container 1 with chunks of the same sizes each time; returns its bytes. */
    private byte[] write(ContainerCipher with, int chunkCount, int chunkBytes) throws IOException {
        return write(new CrashDirectory(seed), with, chunkCount, chunkBytes);
    }

    private byte[] write(CrashDirectory to, ContainerCipher with, int chunkCount, int chunkBytes) throws IOException {
        fixture.cipher = with;
        fixture.lastId.set(0);
        fixture.options = StoreFixture.options(Compression.Codec.NONE);
        try (ContainerStore store = fixture.openWithoutTables(to);
                ContainerWriter writer = store.writer(1)) {
            for (int i = 0; i < chunkCount; i++) {
                byte[] chunk = new byte[chunkBytes];
                random.nextBytes(chunk);
                writer.append(chunk, 0, chunkBytes, TestChunks.fingerprint(chunk), 0);
            }
            fixture.sealAll(store);
        }
        return fixture.contents(to, 1);
    }

    /** Reads everything in a container, as a restore without fingerprints and a look at the directory do. */
    private void readAll(byte[] container, FrameTable table, ContainerCipher with) throws IOException {
        new DirectoryReader(new ArrayInput(container, container.length), 1, "a container", with, new ReadStatistics())
                .directory();
        FrameDecoder decoder = new FrameDecoder(decompressor, with);
        LocatedTable at = new LocatedTable(1, 0, table);
        for (int frame = 0; frame < table.frames(); frame++) {
            decoder.decode(container, (int) table.fileOffset(frame), new FrameDecoder.Expected(1, at, frame), false);
        }
    }

    private static FrameTable table(byte[] container, ContainerCipher with) throws IOException {
        return ContainerBytes.of(1, container, with).table();
    }

    /** Makes all checksums right, as somebody does who has the format's description. */
    private static void putChecksums(byte[] container, FrameTable table) {
        ByteBuffer bytes = ByteBuffer.wrap(container).order(ByteOrder.LITTLE_ENDIAN);
        putChecksum(bytes, 0, ContainerFormat.HEADER_BYTES);
        for (int frame = 0; frame < table.frames(); frame++) {
            int from = (int) table.fileOffset(frame);
            putChecksum(bytes, from, from + table.fileLength(frame));
        }
        int footer = container.length - ContainerFormat.FOOTER_BYTES;
        int directory = (int) (table.fileOffset(table.frames() - 1) + table.fileLength(table.frames() - 1));
        putChecksum(bytes, directory, directory + table.encode().length);
        putChecksum(bytes, directory, footer);
        putChecksum(bytes, footer, container.length);
    }

    private static void putChecksum(ByteBuffer bytes, int from, int to) {
        CRC32C crc = new CRC32C();
        crc.update(bytes.array(), from, to - from - Integer.BYTES);
        bytes.putInt(to - Integer.BYTES, (int) crc.getValue());
    }

    /** Returns how many changes of one byte no reader notices. */
    private int unnoticed(byte[] container, ContainerCipher with, boolean rightChecksums) throws IOException {
        FrameTable table = table(container, with);
        readAll(container, table, with);
        int unnoticed = 0;
        for (int at = 0; at < container.length; at++) {
            byte[] changed = container.clone();
            changed[at] ^= (byte) (1 + random.nextInt(255));
            if (rightChecksums) {
                putChecksums(changed, table);
                if (Arrays.equals(changed, container)) {
                    continue; // The byte is one of a checksum.
                }
            }
            try {
                readAll(changed, table, with);
                unnoticed++;
            } catch (CorruptionException | UnsupportedFormatException e) {
                assertNotNull(e.getMessage());
            }
        }
        return unnoticed;
    }

    @ParameterizedTest
    @EnumSource(AeadCipher.class)
    void everyChangedByteIsNoticedAlsoWithRightChecksums(AeadCipher algorithm) throws IOException {
        ContainerCipher with = ContainerCipher.of(TestCiphers.keys(1, algorithm));
        byte[] container = write(with, 9, 600);
        assertEquals(2, table(container, with).frames());
        assertEquals(0, unnoticed(container, with, false));
        assertEquals(0, unnoticed(container, with, true));
    }

    @Test
    void withoutATagOtherChunksPassWithRightChecksums() throws IOException {
        byte[] container = write(ContainerCipher.NONE, 9, 600);
        assertEquals(0, unnoticed(container, ContainerCipher.NONE, false));
        int unnoticed = unnoticed(container, ContainerCipher.NONE, true);
        assertTrue(unnoticed > 9 * 600, unnoticed + " of " + container.length);
    }

    @Test
    void aWrongTagIsToldApartFromDamage() throws IOException {
        ContainerCipher with = encrypting(1);
        byte[] container = write(with, 9, 600);
        FrameTable table = table(container, with);
        for (int at : new int[] {(int) table.fileOffset(0) + 100, container.length - 100}) {
            byte[] changed = container.clone();
            changed[at] ^= 1;
            String damaged = assertThrows(CorruptionException.class, () -> readAll(changed, table, with))
                    .getMessage();
            assertFalse(damaged.contains("changed or exchanged"), damaged);
            putChecksums(changed, table);
            String exchanged = assertThrows(CorruptionException.class, () -> readAll(changed, table, with))
                    .getMessage();
            assertTrue(exchanged.contains("changed or exchanged"), exchanged);
        }
    }

    /** Puts a frame in the place of another one, with the header that is expected there. */
    private static byte[] exchanged(byte[] container, int at, byte[] other, int otherAt, int length) {
        byte[] result = container.clone();
        int content = at + FrameFormat.HEADER_BYTES;
        System.arraycopy(
                other,
                otherAt + FrameFormat.HEADER_BYTES,
                result,
                content,
                length - FrameFormat.HEADER_BYTES - FrameFormat.CRC_BYTES);
        return result;
    }

    /** Exchanges frames that have the same lengths; returns whether somebody notices it. */
    private boolean isNoticed(byte[] container, int frame, byte[] other, int otherFrame, ContainerCipher with)
            throws IOException {
        FrameTable table = table(container, with);
        byte[] changed = exchanged(
                container,
                (int) table.fileOffset(frame),
                other,
                (int) table.fileOffset(otherFrame),
                table.fileLength(frame));
        putChecksums(changed, table);
        assertFalse(Arrays.equals(container, changed));
        FrameDecoder.Expected expected = new FrameDecoder.Expected(1, new LocatedTable(1, 0, table), frame);
        try {
            // The fingerprints come with the frame, so verifying them does not help.
            new FrameDecoder(decompressor, with).decode(changed, (int) table.fileOffset(frame), expected, true);
            return false;
        } catch (CorruptionException e) {
            assertTrue(e.getMessage().contains("changed or exchanged"), e.getMessage());
            return true;
        }
    }

    /** A writing of the same container and generation has the same chunks in its slots, if it has them. */
    @Test
    void aFrameOfAnotherPlaceIsRefused() throws IOException {
        for (ContainerCipher with : List.of(encrypting(1), ContainerCipher.NONE)) {
            boolean isEncrypted = with != ContainerCipher.NONE;
            byte[] container = write(with, 14, 600);
            assertEquals(isEncrypted, isNoticed(container, 0, container, 1, with), "other slots");
            fixture.salt++;
            assertEquals(isEncrypted, isNoticed(container, 0, write(with, 14, 600), 0, with), "another container");
            fixture.salt--;
            ContainerCipher other = isEncrypted ? encrypting(2) : with;
            assertEquals(isEncrypted, isNoticed(container, 0, write(other, 14, 600), 0, with), "another volume");
            byte[] next = ContainerBytes.of(1, write(with, 14, 600), with)
                    .without(new BitSet(), decompressor, null)
                    .bytes();
            assertEquals(isEncrypted, isNoticed(container, 0, next, 0, with), "another generation");
        }
    }

    /** The bytes of the frames, directory and footer of the other volume, with the identity that is expected. */
    @Test
    void aDirectoryOfAnotherWritingIsRefused() throws IOException {
        for (ContainerCipher with : List.of(encrypting(1), ContainerCipher.NONE)) {
            byte[] container = write(with, 14, 600);
            byte[] other = write(with, 14, 600);
            FrameTable table = table(container, with);
            int directory = (int) (table.fileOffset(table.frames() - 1) + table.fileLength(table.frames() - 1));
            // The tag is right, and its key salt: directories of one identity and table can be exchanged. Their lists
            // then contradict those of the frames, whose tags say which are right.
            byte[] mixed = container.clone();
            System.arraycopy(other, directory, mixed, directory, other.length - directory);
            readAll(mixed, table, with);
            // With another generation in the footer it is refused.
            byte[] next = ContainerBytes.of(1, other, with)
                    .without(new BitSet(), decompressor, null)
                    .bytes();
            System.arraycopy(next, directory, mixed, directory, next.length - directory);
            ByteBuffer bytes = ByteBuffer.wrap(mixed).order(ByteOrder.LITTLE_ENDIAN);
            mixed[directory + 1] = 1;
            bytes.putInt(mixed.length - ContainerFormat.FOOTER_BYTES + 24, 1);
            putChecksums(mixed, table);
            if (with == ContainerCipher.NONE) {
                readAll(mixed, table, with);
            } else {
                assertThrows(CorruptionException.class, () -> readAll(mixed, table, with));
            }
        }
    }

    @Test
    void whatIsNotEncryptedIsRefusedInAnEncryptedVolumeAndTheOtherWayRound() throws IOException {
        ContainerCipher keyed = encrypting(1);
        byte[] plain = write(ContainerCipher.NONE, 9, 600);
        byte[] encrypted = write(keyed, 9, 600);
        assertThrows(CorruptionException.class, () -> readAll(plain, table(plain, ContainerCipher.NONE), keyed));
        assertThrows(
                UnsupportedFormatException.class,
                () -> readAll(encrypted, table(encrypted, keyed), ContainerCipher.NONE));
        FrameTable table = table(plain, ContainerCipher.NONE);
        FrameDecoder.Expected expected = new FrameDecoder.Expected(1, new LocatedTable(1, 0, table), 0);
        String refused = assertThrows(
                        CorruptionException.class,
                        () -> new FrameDecoder(decompressor, keyed)
                                .decode(plain, (int) table.fileOffset(0), expected, true))
                .getMessage();
        assertTrue(refused.contains("not encrypted: it was changed or exchanged"), refused);
        FrameTable other = table(encrypted, keyed);
        FrameDecoder.Expected sealed = new FrameDecoder.Expected(1, new LocatedTable(1, 0, other), 0);
        String noKey = assertThrows(
                        CorruptionException.class,
                        () -> new FrameDecoder(decompressor, ContainerCipher.NONE)
                                .decode(encrypted, (int) other.fileOffset(0), sealed, true))
                .getMessage();
        assertTrue(noKey.contains("without its key"), noKey);
    }

    @Test
    void recoveryTakesNoFrameThatIsNotOfTheVolume() throws IOException {
        fixture.cipher = encrypting(1);
        FrameTable table = leaveOpen();
        byte[] sound = fixture.contents(disk, 1);
        assertTrue(table.frames() > 3);
        // Without its key the container is not taken for damaged, and nothing is written.
        Set<String> before = Set.copyOf(disk.list());
        fixture.cipher = ContainerCipher.NONE;
        assertThrows(UnsupportedFormatException.class, () -> fixture.openWithoutTables(disk));
        assertEquals(before, Set.copyOf(disk.list()));
        assertArrayEquals(sound, fixture.contents(disk, 1));
        fixture.cipher = encrypting(1);
        // One frame is changed, with a right checksum; one is not encrypted.
        byte[] changed = sound.clone();
        ByteBuffer bytes = ByteBuffer.wrap(changed).order(ByteOrder.LITTLE_ENDIAN);
        int first = (int) table.fileOffset(1);
        changed[first + 100] ^= 1;
        putChecksum(bytes, first, first + table.fileLength(1));
        int second = (int) table.fileOffset(2);
        bytes.putShort(second + 6, (short) 0);
        putChecksum(bytes, second, second + table.fileLength(2));
        fixture.replace(disk, 1, changed);
        try (ContainerStore store = fixture.openWithoutTables(disk)) {
            assertEquals(slots(table.firstSlot(1), table.firstSlot(3)), lost(store));
            fixture.commit(store);
            chunks.byId.keySet().removeIf(id -> {
                int slot = (int) (id & 0xffff);
                return slot >= table.firstSlot(1) && slot < table.firstSlot(3);
            });
            chunks.assertAllReadable(store);
        }
    }

    @Test
    void twoWritingsOfTheSameBytesHaveDifferentKeys() throws IOException {
        long seedOfBytes = random.nextLong();
        List<byte[]> encrypted = new ArrayList<>();
        List<ContainerCipher> ciphers = List.of(
                encrypting(1),
                encrypting(1),
                TestCiphers.counting(TestCiphers.keys(1, AeadCipher.AES_256_GCM), 5),
                TestCiphers.counting(TestCiphers.keys(1, AeadCipher.AES_256_GCM), 5));
        for (ContainerCipher with : ciphers) {
            random.setSeed(seedOfBytes);
            encrypted.add(write(with, 9, 600));
        }
        FrameTable table = table(encrypted.get(0), ciphers.get(0));
        int frame = (int) table.fileOffset(0) + FrameFormat.HEADER_BYTES;
        int end = (int) table.fileOffset(0) + table.fileLength(0);
        assertFalse(
                Arrays.equals(encrypted.get(0), frame, frame + 16, encrypted.get(1), frame, frame + 16),
                "equal bytes show that two writings have one key");
        // The control: with the same key salts all is equal.
        assertArrayEquals(encrypted.get(2), encrypted.get(3));
        // Each writer of the next generation draws one of its own.
        ContainerBytes first = ContainerBytes.of(1, encrypted.get(0), ciphers.get(0));
        byte[] one = first.without(new BitSet(), decompressor, null).bytes();
        byte[] two = first.without(new BitSet(), decompressor, null).bytes();
        assertEquals(one.length, two.length);
        assertFalse(Arrays.equals(one, frame, end, two, frame, end));
    }

    /** What of the volume's content is in a pack. */
    private static String leak(byte[] pack, TestChunks stored) {
        Set<ByteBuffer> windows = new HashSet<>();
        for (int at = 0; at + PROBE_BYTES <= pack.length; at++) {
            windows.add(ByteBuffer.wrap(pack, at, PROBE_BYTES));
        }
        for (Map.Entry<Long, byte[]> each : stored.byId.entrySet()) {
            byte[] chunk = each.getValue();
            byte[] fingerprint = TestChunks.fingerprint(chunk);
            for (int at = 0; at + PROBE_BYTES <= fingerprint.length; at++) {
                if (windows.contains(ByteBuffer.wrap(fingerprint, at, PROBE_BYTES))) {
                    return "a fingerprint";
                }
            }
            for (int at = 0; at + PROBE_BYTES <= chunk.length; at++) {
                if (windows.contains(ByteBuffer.wrap(chunk, at, PROBE_BYTES))) {
                    return "bytes of a chunk";
                }
            }
            // A length of two bytes, and the begin of the fingerprint.
            byte[] entry = new byte[PROBE_BYTES];
            assertTrue(chunk.length >= 128 && chunk.length < 1 << 14);
            entry[0] = (byte) (chunk.length & 0x7f | 0x80);
            entry[1] = (byte) (chunk.length >>> 7);
            System.arraycopy(fingerprint, 0, entry, 2, PROBE_BYTES - 2);
            if (windows.contains(ByteBuffer.wrap(entry))) {
                return "an entry of a list";
            }
        }
        return "";
    }

    /** Writes, recovers after a crash, collects and heals; calls a visitor with each pack after each step. */
    private void eachOperation(ContainerCipher with, Consumer<byte[]> pack) throws IOException {
        fixture.cipher = with;
        fixture.options = StoreFixture.options(Compression.Codec.NONE);
        CrashDirectory before = new CrashDirectory(seed);
        try (ContainerStore store = fixture.openWithoutTables(before)) {
            for (int stream = 0; stream < 2; stream++) {
                try (ContainerWriter writer = store.writer(stream)) {
                    for (int i = 0; i < 25; i++) {
                        byte[] chunk = new byte[200 + random.nextInt(800)];
                        random.nextBytes(chunk);
                        chunks.append(writer, chunk);
                    }
                }
                if (stream == 0) {
                    fixture.sealAll(store);
                }
                fixture.commit(store);
            }
        }
        visit(before, pack);
        CrashDirectory after = fixture.crash(before, seed);
        try (ContainerStore store = fixture.openWithoutTables(after)) {
            assertEquals(1, store.recovered().size());
            fixture.commit(store);
            visit(after, pack);
            chunks.assertAllReadable(store);
            List<Long> ids = new ArrayList<>();
            store.forEachContainer(ids::add);
            for (int level : new int[] {0, 5}) {
                try (Compaction compaction = store.compaction(level)) {
                    for (long id : ids) {
                        BitSet kept = new BitSet();
                        kept.set(0, store.frameTable(id).slots());
                        kept.clear(level);
                        BitSet gone = new BitSet();
                        gone.set(level);
                        chunks.forget(id, gone);
                        compaction.makeReady(NO_DAMAGE);
                        compaction.load(id, kept, new BitSet(), false);
                    }
                    compaction.writeLoaded(NO_DAMAGE);
                    compaction.force();
                    fixture.commit(store);
                }
                visit(after, pack);
                chunks.assertAllReadable(store);
            }
        }
    }

    private static final Compaction.Results NO_DAMAGE = new Compaction.Results() {
        @Override
        public void copied(long container, long bytes, long saved) {}

        @Override
        public void incompressible(long container) {}

        @Override
        public void damaged(long container, int firstSlot, int slots, IOException why) {
            throw new AssertionError(why);
        }
    };

    private static void visit(CrashDirectory of, Consumer<byte[]> pack) throws IOException {
        for (String name : of.list()) {
            if (name.endsWith(".pack")) {
                pack.accept(of.contents(name));
            }
        }
    }

    @Test
    void noByteOfAChunkOrOfAFingerprintIsInAPack() throws IOException {
        List<String> leaks = new ArrayList<>();
        eachOperation(encrypting(1), pack -> leaks.add(leak(pack, chunks)));
        assertTrue(leaks.size() >= 5, leaks::toString);
        assertEquals(Set.of(""), Set.copyOf(leaks));
        chunks.byId.clear();
        leaks.clear();
        eachOperation(ContainerCipher.NONE, pack -> leaks.add(leak(pack, chunks)));
        assertTrue(leaks.contains("a fingerprint"), leaks::toString);
    }

    /** Whoever sees two different texts under one key and number knows their difference. */
    @Test
    void noKeyEncryptsTwoTextsUnderOneNumber() throws IOException {
        Map<ByteBuffer, byte[]> texts = new HashMap<>();
        int[] same = {0};
        eachOperation(encrypting(1), pack -> same[0] += addTexts(pack, texts));
        assertTrue(texts.size() > 20, texts.size() + " texts");
        assertEquals(0, same[0]);
        // The control: key salts that repeat.
        fixture.lastId.set(0);
        chunks.byId.clear();
        texts.clear();
        ContainerCipher repeating = ContainerCipher.of(TestCiphers.keys(1, AeadCipher.AES_256_GCM), () -> 4);
        eachOperation(repeating, pack -> same[0] += addTexts(pack, texts));
        fixture.lastId.set(0);
        chunks.byId.clear();
        eachOperation(repeating, pack -> same[0] += addTexts(pack, texts));
        assertTrue(same[0] > 0);
    }

    /** Notes what each key and number encrypts; returns how many were known with another text. */
    private static int addTexts(byte[] pack, Map<ByteBuffer, byte[]> texts) {
        int others = 0;
        for (int at = 0; at < pack.length - FrameFormat.HEADER_BYTES; at++) {
            FrameFormat.Header frame = FrameFormat.readHeader(pack, at, pack.length);
            if (frame != null && FrameFormat.crcHolds(pack, at, frame)) {
                int end = at + frame.frameBytes() - FrameFormat.CRC_BYTES;
                ByteBuffer key = ByteBuffer.allocate(32)
                        .putLong(frame.identity().container())
                        .putInt(frame.identity().generation())
                        .putLong(frame.identity().salt())
                        .put(pack, end - Long.BYTES, Long.BYTES)
                        .putInt(frame.firstSlot())
                        .flip();
                byte[] text = Arrays.copyOfRange(pack, at, end);
                byte[] known = texts.putIfAbsent(key, text);
                others += known == null || Arrays.equals(known, text) ? 0 : 1;
            }
        }
        return others;
    }

    @Test
    void aPackIsReadWithoutTheTableOnlyWithTheKey() throws IOException {
        fixture.cipher = encrypting(1);
        leaveOpen();
        try (ContainerStore store = fixture.openWithoutTables(disk)) {
            appendSome(store, 7, 20);
            fixture.sealAll(store);
        }
        int[] found = {0};
        for (long pack : PackReader.packs(disk)) {
            try (PackReader reader = new PackFolder(disk, encrypting(1)).open(pack)) {
                reader.forEach(
                        offset -> 0,
                        container -> found[0] += container.present().cardinality());
            }
            try (PackReader reader = new PackFolder(disk, ContainerCipher.NONE).open(pack)) {
                assertThrows(UnsupportedFormatException.class, () -> reader.forEach(offset -> 0, container -> {}));
            }
            // With the key of another volume nothing is found, and nothing is changed.
            try (PackReader reader = new PackFolder(disk, encrypting(2)).open(pack)) {
                assertNull(reader.whole(4096, Long.MAX_VALUE));
            }
        }
        assertTrue(found[0] >= chunks.byId.size(), found[0] + " of " + chunks.byId.size());
    }

    /** A chunk is taken from a damaged frame if its fingerprint is right, which the directory authenticates. */
    @Test
    void whatIsWholeInADamagedFrameIsSalvaged() throws IOException {
        for (AeadCipher algorithm : AeadCipher.values()) {
            ContainerCipher with = ContainerCipher.of(TestCiphers.keys(1, algorithm));
            CrashDirectory written = new CrashDirectory(seed);
            byte[] container = write(written, with, 14, 600);
            ContainerBytes bytes = ContainerBytes.of(1, container, with);
            byte[] damaged = container.clone();
            // The last byte of the first frame's payload, and the key salt behind it, which the next frame repeats.
            int end = (int) bytes.table().fileOffset(0) + bytes.table().fileLength(0) - FrameFormat.CRC_BYTES;
            damaged[end - 25] ^= 1;
            damaged[end - 1] ^= 1;
            SealedContainers.Whole whole =
                    new SealedContainers.Whole(1, fixture.entry(written, 1), bytes.directory(), damaged, true);
            Map<Integer, byte[]> salvaged = new FrameSalvage(new FrameDecoder(decompressor, with)).chunks(whole, 0);
            assertEquals(bytes.table().slotCount(0) - 1, salvaged.size());
            for (Map.Entry<Integer, byte[]> each : salvaged.entrySet()) {
                int fingerprint = each.getKey() * 32;
                assertArrayEquals(
                        TestChunks.fingerprint(each.getValue()),
                        Arrays.copyOfRange(bytes.directory().fingerprints(), fingerprint, fingerprint + 32));
            }
        }
    }

    private static SealedContainer madeAnew(byte[] container, StoredContainer stored, ContainerCipher with)
            throws IOException {
        return new DirectoryFromFrames(1, stored, container, with, "a container").make(null);
    }

    /** Whoever knows the fingerprint of a chunk can change its bits in both lists, but not a tag. */
    @Test
    void aListIsBelievedByItsTagAndNotBecauseItIsThereTwice() throws IOException {
        for (ContainerCipher with : List.of(encrypting(1), ContainerCipher.NONE)) {
            CrashDirectory written = new CrashDirectory(seed);
            byte[] container = write(written, with, 14, 600);
            StoredContainer stored = fixture.entry(written, 1);
            ContainerBytes bytes = ContainerBytes.of(1, container, with);
            byte[] fingerprints = bytes.directory().fingerprints();
            FrameTable table = bytes.table();
            int last = table.frames() - 1;
            int lists = (int) table.fileOffset(last) + table.fileLength(last) + table.encode().length;
            int list = (int) table.fileOffset(0) + FrameFormat.HEADER_BYTES;
            // The footer is damaged, and a frame's payload: the directory has the list of the frame.
            container[container.length - 20] ^= 1;
            container[list + 1000] ^= 1;
            assertArrayEquals(fingerprints, madeAnew(container, stored, with).fingerprints());
            // A fingerprint in both lists.
            container[list + 9] ^= 1;
            container[lists + 9] ^= 1;
            SealedContainer forged = madeAnew(container, stored, with);
            int known = with == ContainerCipher.NONE ? 600 : 0;
            assertEquals(known, forged.length(0));
            assertEquals(known > 0, forged.fingerprints()[7] == (byte) (fingerprints[7] ^ 1), "control");
            assertEquals(600, forged.length(table.firstSlot(1)));
        }
    }
}

package org.opendedup.sar.raw;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.crypt.AeadCipher;
import org.opendedup.sar.crypt.Purpose;
import org.opendedup.sar.crypt.SectorCipher;
import org.opendedup.sar.crypt.VolumeKeys;
import org.opendedup.sar.io.RandomFile;

class SealedRawFolderTest extends RawFolderContract {
    private static final UUID VOLUME = new UUID(1, 2);
    private static final VolumeKeys KEYS =
            new VolumeKeys(new byte[VolumeKeys.KEY_BYTES], VOLUME, AeadCipher.AES_256_GCM);
    private static final String WORDS = "The content of a file that nobody else should read. ";

    @TempDir
    Path location;

    @Override
    RawFolder empty() throws IOException {
        FileRawFolder.create(location, VOLUME, null);
        return SealedRawFolder.of(FileRawFolder.open(location, VOLUME), KEYS);
    }

    @Test
    void theLengthOfContentFollowsFromThatOfTheFile() {
        for (long length = 0; length < 100; length++) {
            assertEquals(length, SealedFile.opened(SealedFile.sealed(length)));
            assertTrue(SealedFile.sealed(length) >= length);
        }
    }

    /** The control: the same content in the folder of a volume that is not encrypted. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void contentIsNotInTheFile(boolean isSealed) throws IOException {
        FileRawFolder.create(location, VOLUME, null);
        String text = WORDS.repeat(2000);
        try (RawFolder folder = SealedRawFolder.of(FileRawFolder.open(location, VOLUME), isSealed ? KEYS : null);
                RandomFile file = folder.create(0x700)) {
            for (int at = 0; at < text.length(); at += 777) {
                String part = text.substring(at, Math.min(text.length(), at + 777));
                file.write(at, ByteBuffer.wrap(part.getBytes(StandardCharsets.US_ASCII)));
            }
        }
        String stored = new String(
                Files.readAllBytes(location.resolve("raw/07/0000000000000700")), StandardCharsets.ISO_8859_1);
        assertEquals(!isSealed, stored.contains("nobody"));
        // Equal sectors of content, which plain ECB or one key stream would show.
        assertEquals(text.length(), isSealed ? SealedFile.opened(stored.length()) : stored.length());
        assertEquals(!isSealed, stored.startsWith(stored.substring(0, 16), 13 * 4096));
    }

    /** Short lengths, where what fills up the last block is most of the file. */
    @Test
    void aShortFileHasTheBytesThatWereWritten() throws IOException {
        Random random = new Random(TestSeed.next());
        try (RawFolder folder = empty()) {
            for (int number = 0; number < 200; number++) {
                byte[] model = {};
                try (RandomFile file = folder.create(number)) {
                    for (int step = 0; step < 30; step++) {
                        model = change(file, model, random);
                        ByteBuffer found = ByteBuffer.allocate(200);
                        assertEquals(model.length, file.read(0, found));
                        assertArrayEquals(model, Arrays.copyOf(found.array(), model.length));
                    }
                }
            }
        }
    }

    private static byte[] change(RandomFile file, byte[] model, Random random) throws IOException {
        int from = random.nextInt(70);
        byte[] bytes = new byte[random.nextInt(40)];
        random.nextBytes(bytes);
        int end = from + bytes.length;
        byte[] longer = Arrays.copyOf(model, Math.max(model.length, end));
        switch (random.nextInt(4)) {
            case 0 -> {
                file.truncate(from);
                return Arrays.copyOf(model, from);
            }
            case 1 -> {
                boolean keepsSize = random.nextBoolean();
                file.zero(from, bytes.length + 1, keepsSize);
                byte[] zeroed = keepsSize ? model.clone() : Arrays.copyOf(model, Math.max(model.length, end + 1));
                Arrays.fill(zeroed, Math.min(zeroed.length, from), Math.min(zeroed.length, end + 1), (byte) 0);
                return zeroed;
            }
            case 2 -> {
                file.allocate(from, bytes.length + 1, false);
                return Arrays.copyOf(model, Math.max(model.length, end + 1));
            }
            default -> {
                if (bytes.length == 0) {
                    return model;
                }
                file.write(from, ByteBuffer.wrap(bytes));
                System.arraycopy(bytes, 0, longer, from, bytes.length);
                return longer;
            }
        }
    }

    /** What was forced stays, and a write that was not leaves each sector of the disk old or new. */
    @Test
    void aCrashLeavesOldOrNewBytes() throws IOException {
        Random random = new Random(TestSeed.next());
        int mixed = 0;
        for (int round = 0; round < 200; round++) {
            CrashRawFolder disk = new CrashRawFolder(round);
            byte[] old = new byte[1 + random.nextInt(9000)];
            Arrays.fill(old, (byte) 1);
            byte[] more = new byte[1 + random.nextInt(9000)];
            Arrays.fill(more, (byte) 2);
            int from = random.nextInt(old.length + 1);
            try (RandomFile file = SealedRawFolder.of(disk, KEYS).create(7)) {
                file.write(0, ByteBuffer.wrap(old));
                file.force();
                disk.sync();
                file.write(from, ByteBuffer.wrap(more));
            }
            try (RandomFile file =
                    SealedRawFolder.of(disk.crash(random.nextLong()), KEYS).open(7)) {
                int length = (int) file.status().size();
                assertTrue(
                        length >= old.length && length <= Math.max(old.length, from + more.length),
                        length + " bytes after " + old.length);
                ByteBuffer found = ByteBuffer.allocate(length);
                file.read(0, found);
                for (int i = 0; i < length; i++) {
                    byte is = found.get(i);
                    boolean mayBeNew = i >= from && i < from + more.length;
                    boolean isOld = i < old.length ? is == 1 : is == 0;
                    assertTrue(isOld || mayBeNew && is == 2, "byte " + i + " is " + is);
                    mixed += mayBeNew && isOld ? 1 : 0;
                }
            }
        }
        assertTrue(mixed > 0, "no crash lost anything");
    }

    /** A file system that is full in the middle of a write leaves the end of a page. */
    @Test
    void aWriteThatFailsInTheMiddleLeavesTheLength() throws IOException {
        CrashRawFolder disk = new CrashRawFolder(1);
        try (RandomFile plain = disk.create(7)) {
            AtomicBoolean isFull = new AtomicBoolean();
            RandomFile fails = with(plain, (method, arguments) -> {
                if (isFull.get() && method.equals("write")) {
                    plain.write(0, ((ByteBuffer) arguments[1]).limit(SectorCipher.SECTOR_BYTES));
                    throw new NoSpaceException("full");
                }
            });
            SealedFile file = sealed(fails);
            byte[] old = "short".getBytes(StandardCharsets.US_ASCII);
            file.write(0, ByteBuffer.wrap(old));
            isFull.set(true);
            assertThrows(NoSpaceException.class, () -> file.write(5, ByteBuffer.wrap(new byte[4086])));
            assertEquals(5, file.status().size());
            ByteBuffer found = ByteBuffer.allocate(100);
            assertEquals(5, file.read(0, found));
            assertArrayEquals(old, Arrays.copyOf(found.array(), 5));
        }
    }

    /** As fallocate(2) has it: with the size kept space is given back, otherwise it stays allocated. */
    @Test
    void rangesAreZeroedInTheWayThatWasAskedFor() throws IOException {
        List<Boolean> keptSizes = new ArrayList<>();
        CrashRawFolder disk = new CrashRawFolder(1);
        try (RandomFile plain = disk.create(7)) {
            SealedFile file = sealed(with(plain, (method, arguments) -> {
                if (method.equals("zero")) {
                    keptSizes.add((Boolean) arguments[2]);
                }
            }));
            file.write(0, ByteBuffer.wrap(new byte[20_000]));
            file.zero(100, 10_000, true);
            file.zero(100, 30_000, false);
            assertEquals(List.of(true, false), keptSizes);
            assertEquals(30_100, file.status().size());
        }
    }

    private static SealedFile sealed(RandomFile file) {
        return new SealedFile(file, 7, KEYS.sectorCipher(Purpose.RAW), new ReentrantReadWriteLock());
    }

    private interface Before {
        void call(String method, Object[] arguments) throws IOException;
    }

    private static RandomFile with(RandomFile file, Before before) {
        return (RandomFile) Proxy.newProxyInstance(
                RandomFile.class.getClassLoader(), new Class<?>[] {RandomFile.class}, (proxy, method, arguments) -> {
                    before.call(method.getName(), arguments);
                    try {
                        return method.invoke(file, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }
}

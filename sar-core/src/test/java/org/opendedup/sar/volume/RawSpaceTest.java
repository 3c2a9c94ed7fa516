package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.MemoryFolder;
import org.opendedup.sar.TestWait;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.hot.policy.HotSettings;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.QuotaId;
import org.opendedup.sar.metadata.record.QuotaLimits;
import org.opendedup.sar.raw.Placement;
import org.opendedup.sar.raw.RawSettings;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.posix.AttributeChange;
import org.opendedup.sar.volume.posix.Owner;
import org.opendedup.sar.volume.posix.SetMode;
import org.opendedup.sar.volume.raw.FastTier.Place;

/** What raw files may take of the volume's capacity and of the fast tier, as far as the daemon is asked. */
@Timeout(120)
class RawSpaceTest {
    private static final int BLOCK = 64 << 10;
    private static final int MIB = 1 << 20;
    private static final long CAPACITY = 8 * MIB;
    private static final long SHARE = 16 * MIB;
    private static final int ROOT = 0;
    private static final int USER = 1000;

    @MemoryFolder
    Path folder;

    @AutoClose
    private Volume volume;

    private void open(long capacity, Placement placement) throws IOException {
        HotSettings sar = new HotSettings(true, 64L << 20, 2, 1 << 20, true, 1000, HotSettings.Policy.REFERENCE_COUNT);
        VolumeConfig config = VolumeConfigs.in(folder, capacity, Chunking.VARIABLE_SHA256)
                .withSsd(folder.resolve("ssd"), sar)
                .withRaw(new RawSettings(placement, SHARE, 100, 100, 0));
        Volume.create(config);
        volume = Volume.open(config);
    }

    private OpenFile make(String name, int user) throws IOException {
        long inode = volume.makeNode(Inode.ROOT, name.getBytes(UTF_8), 0100644, 0, new Owner(user, user))
                .inode();
        return volume.open(inode, true, user);
    }

    private Place place(OpenFile file) throws IOException {
        return volume.fastTier().explain(file.inode()).place();
    }

    /** Writes at the end of a file until there is no space; returns the bytes that were written. */
    private long fill(OpenFile file, long from) throws IOException {
        for (long at = from; at < 4 * CAPACITY; at += BLOCK) {
            try {
                volume.write(file, at, ByteBuffer.allocate(BLOCK));
            } catch (NoSpaceException e) {
                return at - from;
            }
        }
        return 4 * CAPACITY - from;
    }

    @Test
    void writesEndWithTheCapacityOfTheUserAndRootHasItsShare() throws IOException {
        open(CAPACITY, Placement.TDDFS);
        OpenFile file = make("file", USER);
        assertEquals(Place.FAST_TIER, place(file));
        long ofUser = fill(file, 0);
        assertTrue(ofUser > CAPACITY / 2 && ofUser <= CAPACITY * 95 / 100 + BLOCK, () -> ofUser + " bytes");
        volume.write(file, 0, ByteBuffer.allocate(BLOCK));
        OpenFile ofRoot = make("of root", ROOT);
        assertEquals(Place.FAST_TIER, place(ofRoot));
        long all = ofUser + fill(ofRoot, 0);
        assertTrue(all > ofUser && all <= CAPACITY + BLOCK, () -> all + " bytes");
        OpenFile refused = make("refused", USER);
        assertEquals(Place.CHUNKS, place(refused));
        assertThrows(NoSpaceException.class, () -> volume.write(refused, 0, ByteBuffer.allocate(BLOCK)));
        for (OpenFile open : new OpenFile[] {file, ofRoot, refused}) {
            volume.close(open);
        }
    }

    @Test
    void anAllocationBeyondTheShareIsRefusedAndItsFileGoesToChunks() throws IOException {
        open(1L << 40, Placement.TDDFS);
        OpenFile file = make("file", USER);
        volume.allocate(file, 0, MIB, false);
        assertThrows(NoSpaceException.class, () -> volume.allocate(file, 0, 2 * SHARE, true));
        assertThrows(NoSpaceException.class, () -> volume.zero(file, 0, 2 * SHARE, false));
        assertEquals(MIB, volume.attributes(file.inode()).size());
        volume.close(file);
        assertTrue(volume.fastTier().migrate(file.inode()));
        OpenFile again = volume.open(file.inode(), true, USER);
        volume.allocate(again, 0, 2 * SHARE, true);
        volume.close(again);
    }

    /** A file that the kernel had before the limit was set is counted each second, the other at each write. */
    @Test
    void writesEndAtTheQuotaOfTheOwner() throws Exception {
        open(1L << 40, Placement.TDDFS);
        OpenFile before = make("before", USER);
        assertTrue(volume.backing(before) >= 0);
        byte[] first = new byte[MIB];
        new Random(1).nextBytes(first);
        volume.write(before, 0, ByteBuffer.wrap(first));
        QuotaId user = new QuotaId(QuotaId.Kind.USER, USER);
        volume.quotas().set(user, limits -> new QuotaLimits(0, 3 * MIB, 0, 0, 0));
        OpenFile file = make("file", USER);
        assertEquals(Place.FAST_TIER, place(file));
        assertEquals(-1, volume.backing(file));
        Random random = new Random(2);
        byte[] block = new byte[BLOCK];
        PosixException refused = assertThrows(PosixException.class, () -> {
            for (long at = 0; at < 4 * MIB; at += BLOCK) {
                random.nextBytes(block);
                volume.write(file, at, ByteBuffer.wrap(block));
            }
        });
        assertEquals(PosixException.Reason.EDQUOT, refused.reason());
        OpenFile ofRoot = volume.open(file.inode(), true, ROOT);
        volume.write(ofRoot, 4 * MIB, ByteBuffer.wrap(block));
        volume.close(ofRoot);
        volume.close(file);
        volume.close(before);
        long files = MIB + 2 * MIB + BLOCK;
        TestWait.until(() -> used(user) == files);
        // The same bytes in chunks, and of another owner.
        for (OpenFile each : new OpenFile[] {before, file}) {
            assertTrue(volume.fastTier().migrate(each.inode()));
        }
        TestWait.until(() -> used(user) == files);
        OpenFile given = make("given", USER + 1);
        volume.write(given, 0, ByteBuffer.wrap(block));
        volume.change(given.inode(), new AttributeChange(null, USER, null, null, null, null, null));
        volume.close(given);
        TestWait.until(() -> used(user) == files + BLOCK);
    }

    private long used(QuotaId id) throws IOException {
        return volume.context().metadata().quotas().state(id).bytes();
    }

    /** Only then is each write checked. */
    @Test
    void theKernelWritesNoFileItselfWhenLittleIsLeft() throws IOException {
        open(CAPACITY, Placement.TDDFS);
        OpenFile file = make("file", USER);
        assertEquals(-1, volume.backing(file));
        volume.close(file);
    }

    @Test
    void controlTheKernelWritesFilesItselfWhenMuchIsLeft() throws IOException {
        open(1L << 40, Placement.TDDFS);
        OpenFile file = make("file", USER);
        assertTrue(volume.backing(file) >= 0);
        volume.close(file);
    }

    @Test
    void usersPinHalfOfTheShare() throws Exception {
        open(1L << 40, Placement.PIN);
        OpenFile first = make("first", USER);
        volume.write(first, 0, ByteBuffer.allocate((int) SHARE / 2));
        while (volume.fastTier().summary().usedBytes() < SHARE / 2) {
            Thread.sleep(20);
        }
        OpenFile second = make("second", USER);
        OpenFile ofRoot = make("of root", ROOT);
        assertTrue(isPinned(first));
        assertFalse(isPinned(second));
        assertTrue(isPinned(ofRoot));
        volume.setExtendedAttribute(
                second.inode(), Placement.ATTRIBUTE.getBytes(UTF_8), "pin".getBytes(UTF_8), SetMode.CREATE_OR_REPLACE);
        assertFalse(isPinned(second));
        for (OpenFile open : new OpenFile[] {first, second, ofRoot}) {
            volume.close(open);
        }
    }

    private boolean isPinned(OpenFile file) {
        return file.raw().record().pinned();
    }
}

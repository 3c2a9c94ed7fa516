package org.opendedup.sar.container;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.reflect.Proxy;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.common.ContainerChanges;
import org.opendedup.sar.common.StoredContainer;
import org.opendedup.sar.common.StoredContainer.State;
import org.opendedup.sar.common.Writing;
import org.opendedup.sar.container.format.ContainerCipher;
import org.opendedup.sar.container.format.PackFormat;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.HookedDirectory;

/** The sweep at the end of a collection. */
class PackSpaceTest {
    private static final int PACKS = 1200;
    private static final int BYTES = 8192;
    private static final int STRAY_BYTES = 1 << 20;

    private final CrashDirectory disk = new CrashDirectory(1);
    private final HeapContainerTable table = new HeapContainerTable();
    private final AtomicInteger scans = new AtomicInteger();

    private ContainerClaims counted() {
        return (ContainerClaims) Proxy.newProxyInstance(
                ContainerClaims.class.getClassLoader(),
                new Class<?>[] {ContainerClaims.class},
                (self, method, arguments) -> {
                    scans.addAndGet(method.getName().equals("forEach") ? 1 : 0);
                    return method.invoke(table, arguments);
                });
    }

    private long sweep() throws IOException {
        return sweep(disk);
    }

    private long sweep(Directory directory) throws IOException {
        ContainerClaims claims = counted();
        SealedContainers containers =
                new SealedContainers(directory, container -> null, table::stored, 1 << 20, ContainerCipher.NONE);
        try (Packs packs = new Packs(directory, () -> 1L << 40)) {
            return new PackSpace(directory, packs, claims, containers).sweep();
        } finally {
            containers.close();
        }
    }

    private static String name(int pack) {
        return PackFormat.fileName(pack + 1000);
    }

    /** Makes packs of one container each, every hundredth with bytes behind it, and one pack without a container. */
    private void make() throws IOException {
        Map<Long, StoredContainer> entries = new HashMap<>();
        for (int pack = 0; pack < PACKS; pack++) {
            int strays = pack % 100 == 1 ? STRAY_BYTES : 0;
            disk.put(name(pack), new byte[PackFormat.FIRST_CONTAINER + BYTES + strays]);
            if (pack != 7) {
                entries.put(
                        (long) pack + 1,
                        new StoredContainer(
                                new Writing(1, 0),
                                State.SEALED,
                                pack + 1000,
                                PackFormat.FIRST_CONTAINER,
                                BYTES,
                                3,
                                100));
            }
        }
        table.commit(new ContainerChanges(entries, Set.of()));
    }

    /** Each reading of the table takes seconds for a million containers. */
    @Test
    void theTableIsReadTwiceHoweverManyPacksThereAre() throws IOException {
        make();
        long bytes = sweep();
        assertEquals(2, scans.get());
        assertFalse(disk.exists(name(7)), "a pack without a container");
        assertTrue(bytes >= PACKS / 100 * STRAY_BYTES, () -> bytes + " bytes");
        for (int pack = 0; pack < PACKS; pack++) {
            if (pack != 7) {
                long length = PackFormat.FIRST_CONTAINER + BYTES;
                int number = pack;
                assertTrue(disk.allocatedBytes(name(pack)) <= length, () -> "pack " + number);
            }
        }
        scans.set(0);
        assertEquals(0, sweep());
        assertEquals(1, scans.get(), "nothing is left");
    }

    /** A lane that is idle has its pack open, also on a disk that is gone. */
    @Test
    void anOpenPackThatKeepsWhatIsReservedDoesNotEndASweep() throws IOException {
        make();
        AtomicInteger trims = new AtomicInteger();
        HookedDirectory directory = new HookedDirectory(disk);
        SealedContainers containers =
                new SealedContainers(directory, container -> null, table::stored, 1 << 20, ContainerCipher.NONE);
        try (Packs packs = new Packs(directory, () -> 1L << 40)) {
            String open = PackFormat.fileName(packs.forContainer(1L << 20, null).number());
            directory.hook = (call, name) -> {
                if (call == HookedDirectory.Call.TRIM && name.equals(open)) {
                    trims.incrementAndGet();
                    throw new IOException(open + ": space after its end cannot be freed: Input/output error");
                }
            };
            long bytes = new PackSpace(directory, packs, counted(), containers).sweep();
            assertTrue(bytes >= PACKS / 100 * STRAY_BYTES, () -> bytes + " bytes");
            assertEquals(1, trims.get());
        } finally {
            containers.close();
        }
    }

    /** As many as a sweep takes at once, on a disk that is read-only, come before one on another disk. */
    @Test
    void packsThatCannotBeChangedDoNotTakeTheTurnOfOthers() throws IOException {
        int refusing = 2048;
        int strays = 72 << 10;
        Map<Long, StoredContainer> entries = new HashMap<>();
        for (int pack = 0; pack <= refusing; pack++) {
            disk.put(name(pack), new byte[PackFormat.FIRST_CONTAINER + BYTES + strays]);
            Writing writing = new Writing(1, 0);
            entries.put(
                    (long) pack + 1,
                    new StoredContainer(writing, State.SEALED, pack + 1000, PackFormat.FIRST_CONTAINER, BYTES, 3, 100));
        }
        table.commit(new ContainerChanges(entries, Set.of()));
        HookedDirectory directory = new HookedDirectory(disk);
        directory.hook = (call, name) -> {
            if (call == HookedDirectory.Call.RELEASE && !name.equals(name(refusing))) {
                throw new IOException(name + " cannot be opened: Read-only file system");
            }
        };
        long bytes = sweep(directory);
        assertTrue(bytes >= strays, () -> bytes + " bytes");
        assertTrue(disk.allocatedBytes(name(0)) > strays, "the control: the first pack was passed over");
    }

    /** Its packs were listed just before: the collection goes on with those of other disks. */
    @Test
    void aDiskThatGoesAfterItsPacksWereListedDoesNotEndACollection() throws IOException {
        disk.put(name(0), new byte[PackFormat.FIRST_CONTAINER]);
        disk.put(name(1), new byte[PackFormat.FIRST_CONTAINER + BYTES]);
        Directory directory = (Directory) Proxy.newProxyInstance(
                Directory.class.getClassLoader(), new Class<?>[] {Directory.class}, (self, method, arguments) -> {
                    if (Set.of("length", "leastDeadShare").contains(method.getName()) && arguments[0].equals(name(0))) {
                        throw new IOException(name(0) + ": No such device");
                    }
                    return method.invoke(disk, arguments);
                });
        SealedContainers containers =
                new SealedContainers(directory, container -> null, table::stored, 1 << 20, ContainerCipher.NONE);
        try (Packs packs = new Packs(directory, () -> 1L << 40)) {
            PackSpace space = new PackSpace(directory, packs, counted(), containers);
            assertEquals(Map.of(1001L, (long) PackFormat.FIRST_CONTAINER + BYTES), space.packBytes());
            assertTrue(space.leastDeadShare(1000) > 1);
        } finally {
            containers.close();
        }
    }
}

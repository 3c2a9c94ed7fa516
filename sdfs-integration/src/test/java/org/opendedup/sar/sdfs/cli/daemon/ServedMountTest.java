package org.opendedup.sar.sdfs.cli.daemon;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.opendedup.sar.TestWait;
import org.opendedup.sar.io.handle.MountTable;
import org.opendedup.sar.sdfs.cli.command.CallingUser;
import org.opendedup.sar.sdfs.cli.control.FakeMountService;
import org.opendedup.sar.sdfs.cli.mounts.MountUsers;
import org.opendedup.sar.sdfs.config.Definitions;

@Timeout(60)
class ServedMountTest {
    /** A mount that is there, and stays. */
    private static final Path PROC = Path.of("/proc");

    /**
     * On a busy machine the kernel ends a mount late, and a search through all processes takes longer than the daemon
     * waits for its last answer. In the control, the search goes on when the mount has ended.
     */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void nobodyWaitsForASearchWhenTheMountHasEnded(boolean endsWithTheMount, @TempDir Path folder) throws Exception {
        var searching = new CountDownLatch(1);
        var goOn = new CountDownLatch(1);
        var mount = new ServedMount(PROC, (entry, enough) -> {
            searching.countDown();
            TestWait.until(() -> endsWithTheMount && enough.getAsBoolean() || goOn.getCount() == 0);
            return List.of();
        });
        assertEquals("proc", mount.begin().orElseThrow().type());
        var volume = new FakeMountService().mount(Definitions.plain("pool0", folder), null, folder, "");
        var unmounting = new FutureTask<Void>(() -> {
            mount.unmount(volume);
            return null;
        });
        new Thread(unmounting, "unmount").start();
        searching.await();
        assertThrows(TimeoutException.class, () -> unmounting.get(10, TimeUnit.MILLISECONDS));
        mount.ended();
        if (!endsWithTheMount) {
            assertThrows(TimeoutException.class, () -> unmounting.get(200, TimeUnit.MILLISECONDS));
            goOn.countDown();
        }
        unmounting.get();
    }

    /** The daemon learns of umount(8) a little later. In the control, a program has a file open after umount -l. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void whoUnmountsDirectlyAfterUmountWaitsForTheEnd(boolean ends, @TempDir Path folder) throws Exception {
        Assumptions.assumeTrue(CallingUser.isRoot(), "skipped: needs root");
        Path place = Files.createDirectory(folder.resolve("mnt"));
        run("mount", "-t", "tmpfs", "none", place.toString());
        var mount = new ServedMount(place, (entry, enough) -> ends ? List.of() : List.of("4711 (bash)"));
        mount.begin();
        run("umount", place.toString());
        assertTrue(mount.isDetached());
        var volume = new FakeMountService().mount(Definitions.plain("pool0", folder), null, folder, "");
        var unmounting = new FutureTask<Void>(() -> {
            mount.unmount(volume);
            return null;
        });
        new Thread(unmounting, "unmount").start();
        if (ends) {
            assertThrows(TimeoutException.class, () -> unmounting.get(100, TimeUnit.MILLISECONDS));
            mount.ended();
            unmounting.get();
        } else {
            String why = assertThrows(ExecutionException.class, unmounting::get).getMessage();
            assertTrue(why.contains("was unmounted already") && why.contains("4711 (bash)"), why);
            assertTrue(
                    why.endsWith(
                            "To close it now: kill " + ProcessHandle.current().pid()),
                    why);
        }
    }

    private static void run(String... command) throws Exception {
        assertEquals(0, new ProcessBuilder(command).inheritIO().start().waitFor());
    }

    @Test
    void aSearchEndsWhenNobodyWantsToKnow() throws Exception {
        MountTable.Entry root = MountTable.read().top(Path.of("/")).orElseThrow();
        assertEquals(List.of(), MountUsers.of(root, () -> true));
        assertFalse(MountUsers.of(root, () -> false).isEmpty(), "the control: this process is in it");
    }
}

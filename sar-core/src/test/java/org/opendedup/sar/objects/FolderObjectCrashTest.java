package org.opendedup.sar.objects;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.io.HookedDirectory;

/** Power cuts of a folder with objects: before each change of the file system, and after each call. */
class FolderObjectCrashTest {
    private static final int STEPS = 60;
    private static final int STATES = 3;

    /** What was acknowledged, and what is being done. */
    private static final class Model {
        final Map<String, byte[]> objects = new HashMap<>();
        final Map<String, byte[]> underway = new HashMap<>();
        String deleting = "";
        /** The last two numbers in the replaced object: acknowledged, and underway. */
        int acknowledged = -1;

        int replacing = -1;
    }

    @Test
    void whatWasAcknowledgedIsThereAndNothingIsTorn() throws IOException {
        int states = new Trial(TestSeed.next(), false).run();
        assertTrue(states > STEPS * STATES, states + " states");
    }

    @Test
    void controlWithoutForcesItIsNot() {
        assertThrows(AssertionError.class, () -> new Trial(TestSeed.next(), true).run());
    }

    /** A run of puts, replacements and deletions. */
    private static final class Trial {
        private final Random random;
        private final CrashDirectory disk;
        private final Model model = new Model();
        private int states;

        Trial(long seed, boolean forceDoesNothing) {
            random = new Random(seed);
            disk = new CrashDirectory(seed, forceDoesNothing);
        }

        /** Returns the number of states that were compared. */
        int run() throws IOException {
            HookedDirectory hooked = new HookedDirectory(disk);
            hooked.hook = (call, name) -> cut();
            try (FolderObjectStore store = new FolderObjectStore(hooked)) {
                String version = null;
                for (int step = 0; step < STEPS; step++) {
                    String name = "folder-" + random.nextInt(3) + "/" + random.nextInt(10);
                    if (random.nextInt(3) == 0) {
                        model.replacing = model.acknowledged + 1;
                        version =
                                store.replace("lease", version, UUID.randomUUID(), new byte[] {(byte) model.replacing});
                        model.acknowledged = model.replacing;
                    } else if (model.objects.containsKey(name)) {
                        model.deleting = name;
                        store.delete(List.of(name));
                        model.objects.remove(name);
                        model.deleting = "";
                    } else {
                        byte[] bytes = ObjectStoreContract.bytes(random.nextInt(3000), random.nextLong());
                        model.underway.put(name, bytes);
                        store.put(name, ObjectSource.of(bytes));
                        model.underway.clear();
                        model.objects.put(name, bytes);
                    }
                    cut();
                }
            }
            return states;
        }

        /** Compares some of the states in which a power cut now could leave the folder. */
        private void cut() {
            for (int state = 0; state < STATES; state++) {
                CrashDirectory left = disk.crash(random.nextLong());
                states++;
                try (FolderObjectStore store = new FolderObjectStore(left)) {
                    check(store);
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
            }
        }

        private void check(FolderObjectStore store) throws IOException {
            List<String> names = new ArrayList<>(store.list("folder", "", 1000).names());
            for (Map.Entry<String, byte[]> each : model.objects.entrySet()) {
                if (names.remove(each.getKey())) {
                    assertArrayEquals(each.getValue(), store.readWhole(each.getKey(), 3000));
                } else {
                    assertEquals(model.deleting, each.getKey(), "lost");
                    assertThrows(NoSuchFileException.class, () -> store.status(each.getKey()));
                }
            }
            for (String name : names) {
                assertTrue(model.underway.containsKey(name), name + " came back");
                assertArrayEquals(model.underway.get(name), store.readWhole(name, 3000));
            }
            int number = store.current("lease")
                    .map(version -> (int) version.contents()[0])
                    .orElse(-1);
            assertTrue(number == model.acknowledged || number == model.replacing, number + " of " + model.replacing);
        }
    }
}

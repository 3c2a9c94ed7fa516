package org.opendedup.sar.keys;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.opendedup.sar.keys.KeyHeaderTest.CHEAP;
import static org.opendedup.sar.keys.KeyHeaderTest.MASTER;
import static org.opendedup.sar.keys.KeyHeaderTest.NOW;
import static org.opendedup.sar.keys.KeyHeaderTest.header;
import static org.opendedup.sar.keys.KeyHeaderTest.passphrase;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.io.HookedDirectory;

class KeyHeaderCopiesTest {
    private static final int CRASHES = 20;
    /** Both copies must be lost by the same power cut. */
    private static final int CRASHES_OF_CONTROL = 150;

    /** Stands for the power cut. */
    private static final IOException CUT = new IOException("the power is cut");

    private final KeyHeader old;
    private final KeyHeader changed;

    KeyHeaderCopiesTest() throws IOException {
        old = header("old");
        changed = old.withSecret(MASTER, 0, NOW, CHEAP, passphrase("new"));
    }

    @Test
    void aPowerCutLeavesTheOldHeaderOrTheNewOne() throws IOException {
        TestSeed.upTo(3).forEach(seed -> {
            try {
                assertEquals(0, lostHeaders(seed, false));
            } catch (IOException e) {
                throw new AssertionError(TestSeed.again(getClass(), seed), e);
            }
        });
    }

    /** The control: forces that do nothing lose both copies. */
    @Test
    void withoutForcesAPowerCutLosesTheHeader() throws IOException {
        assertTrue(lostHeaders(1, true) > 0);
    }

    /** Cuts the power before each change of a write, and after it; returns how often no header was left. */
    private int lostHeaders(long seed, boolean withoutForces) throws IOException {
        int lost = 0;
        boolean isWhole = false;
        for (int step = 0; !isWhole; step++) {
            var data = new CrashDirectory(seed);
            var metadata = new CrashDirectory(seed + 1);
            new KeyHeaderCopies(data, metadata).write(old);
            data.setForceDoesNothing(withoutForces);
            metadata.setForceDoesNothing(withoutForces);
            isWhole = write(step, data, metadata);
            for (int crash = 0; crash < (withoutForces ? CRASHES_OF_CONTROL : CRASHES); crash++) {
                var left = new KeyHeaderCopies(data.crash(seed + crash), metadata.crash(seed - crash));
                try {
                    KeyHeaderCopies.Found found = left.read();
                    // What was acknowledged is there.
                    assertTrue(!isWhole || withoutForces || found.header().generation() == 2);
                    opens(found.header());
                    left.repair(found.header());
                    assertEquals(List.of(), left.read().faults());
                } catch (KeyException e) {
                    lost++;
                }
            }
        }
        return lost;
    }

    private static void opens(KeyHeader header) throws IOException {
        header.open(passphrase(header.generation() == 1 ? "old" : "new")).close();
    }

    /** Writes the changed header until the power is cut; returns whether it was not. */
    private boolean write(int cutBefore, CrashDirectory data, CrashDirectory metadata) throws IOException {
        int[] changes = {0};
        HookedDirectory.Hook hook = (call, name) -> {
            if (changes[0]++ == cutBefore) {
                throw CUT;
            }
        };
        var one = new HookedDirectory(data);
        var two = new HookedDirectory(metadata);
        one.hook = hook;
        two.hook = hook;
        try {
            new KeyHeaderCopies(one, two).write(changed);
            return true;
        } catch (IOException e) {
            if (e != CUT) {
                throw e;
            }
            return false;
        }
    }

    @Test
    void aCopyThatIsMissingDamagedOrOlderIsFoundAndRepaired() throws IOException {
        var data = new CrashDirectory(1);
        var metadata = new CrashDirectory(2);
        var copies = new KeyHeaderCopies(data, metadata);
        assertTrue(!copies.exist());
        assertEquals(
                KeyException.Reason.MISSING,
                assertThrows(KeyException.class, copies::read).reason());
        copies.write(changed);
        assertEquals(List.of(), copies.read().faults());

        metadata.delete(KeyHeader.NAME);
        assertTrue(copies.exist());
        assertFault(copies, "is missing");
        data.put(KeyHeader.NAME, new byte[3000]);
        assertFault(copies, "no key header");
        metadata.put(KeyHeader.NAME, old.bytes());
        assertFault(copies, "older");
        byte[] damaged = changed.bytes().clone();
        damaged[50] ^= 1;
        data.put(KeyHeader.NAME, damaged);
        assertFault(copies, "checksum");
        data.failReads(KeyHeader.NAME, 0, 10);
        assertFault(copies, "cannot be read");
        // An unfinished write before.
        data.put(KeyHeader.NAME + ".new", new byte[10]);
        copies.write(changed);
        assertEquals(List.of(), copies.read().faults());

        // Who read the old header before somebody changed it does not bring it back.
        assertEquals(List.of(), copies.repair(old));
        metadata.delete(KeyHeader.NAME);
        assertEquals(List.of(), copies.repair(old));
        assertEquals(2, copies.read().header().generation());

        data.put(KeyHeader.NAME, damaged);
        metadata.put(KeyHeader.NAME, damaged);
        KeyException lost = assertThrows(KeyException.class, copies::read);
        assertEquals(KeyException.Reason.DAMAGED, lost.reason());
    }

    /** Checks the only fault, and repairs. */
    private void assertFault(KeyHeaderCopies copies, String fault) throws IOException {
        KeyHeaderCopies.Found found = copies.read();
        assertEquals(changed.generation(), found.header().generation());
        assertEquals(1, found.faults().size(), found.faults().toString());
        assertTrue(found.faults().get(0).contains(fault), found.faults().toString());
        assertEquals(1, copies.repair(found.header()).size());
        assertEquals(List.of(), copies.read().faults());
    }
}

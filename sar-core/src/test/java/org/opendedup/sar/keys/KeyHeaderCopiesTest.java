package org.opendedup.sar.keys;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.opendedup.sar.keys.KeyHeaderTest.CHEAP;
import static org.opendedup.sar.keys.KeyHeaderTest.MASTER;
import static org.opendedup.sar.keys.KeyHeaderTest.NOW;
import static org.opendedup.sar.keys.KeyHeaderTest.VOLUME;
import static org.opendedup.sar.keys.KeyHeaderTest.header;
import static org.opendedup.sar.keys.KeyHeaderTest.passphrase;

import java.io.IOException;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.crypt.AeadCipher;
import org.opendedup.sar.fuzz.ParserSet;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.io.HookedDirectory;

class KeyHeaderCopiesTest {
    private static final int CRASHES = 20;
    /** Both copies must be lost by the same power cut. */
    private static final int CRASHES_OF_CONTROL = 150;

    /** Stands for the power cut. */
    private static final String CUT = "the power is cut";

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
            new KeyHeaderCopies(data, metadata).write(old, null);
            data.setForceDoesNothing(withoutForces);
            metadata.setForceDoesNothing(withoutForces);
            isWhole = write(step, data, metadata);
            for (int crash = 0; crash < (withoutForces ? CRASHES_OF_CONTROL : CRASHES); crash++) {
                var left = new KeyHeaderCopies(data.crash(seed + crash), metadata.crash(seed - crash));
                try {
                    KeyHeaderCopies.Found found = left.read(VOLUME);
                    // What was acknowledged is there.
                    assertTrue(!isWhole || withoutForces || found.header().generation() == changed.generation());
                    opens(found.header());
                    left.repair(found.header(), MASTER);
                    assertEquals(List.of(), left.read(VOLUME).faults());
                } catch (KeyException e) {
                    lost++;
                }
            }
        }
        return lost;
    }

    private void opens(KeyHeader header) throws IOException {
        header.open(passphrase(header.generation() == old.generation() ? "old" : "new"))
                .close();
    }

    /** Writes the changed header until the power is cut; returns whether it was not. */
    private boolean write(int cutBefore, CrashDirectory data, CrashDirectory metadata) throws IOException {
        int[] changes = {0};
        HookedDirectory.Hook hook = (call, name) -> {
            if (changes[0]++ >= cutBefore) {
                throw new IOException(CUT);
            }
        };
        var one = new HookedDirectory(data);
        var two = new HookedDirectory(metadata);
        one.hook = hook;
        two.hook = hook;
        try {
            return new KeyHeaderCopies(one, two).write(changed, null).isEmpty();
        } catch (IOException e) {
            if (!CUT.equals(e.getMessage())) {
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
                assertThrows(KeyException.class, () -> copies.read(VOLUME)).reason());
        copies.write(changed, null);
        assertEquals(List.of(), copies.read(VOLUME).faults());

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
        copies.write(changed, null);
        assertEquals(List.of(), copies.read(VOLUME).faults());

        // Who read the old header before somebody changed it does not bring it back.
        assertEquals(List.of(), copies.repair(old, MASTER));
        metadata.delete(KeyHeader.NAME);
        assertEquals(List.of(), copies.repair(old, MASTER));
        assertEquals(changed.generation(), copies.read(VOLUME).header().generation());

        data.put(KeyHeader.NAME, damaged);
        metadata.put(KeyHeader.NAME, damaged);
        KeyException lost = assertThrows(KeyException.class, () -> copies.read(VOLUME));
        assertEquals(KeyException.Reason.DAMAGED, lost.reason());
    }

    /** Checks the only fault, and repairs. */
    private void assertFault(KeyHeaderCopies copies, String fault) throws IOException {
        KeyHeaderCopies.Found found = copies.read(VOLUME);
        assertEquals(changed.generation(), found.header().generation());
        assertEquals(1, found.faults().size(), found.faults().toString());
        assertTrue(found.faults().get(0).contains(fault), found.faults().toString());
        assertEquals(1, copies.repair(found.header(), MASTER).size());
        assertEquals(List.of(), copies.read(VOLUME).faults());
    }

    /**
     * Lets each change of a write fail, and all after it: either nothing was changed, or the new header is in force.
     */
    @Test
    void aWriteThatFailsHasChangedNothingAndOneThatIsInForceSaysSo() throws IOException {
        int refused = 0;
        int inForce = 0;
        boolean isWhole = false;
        for (int step = 0; !isWhole; step++) {
            var data = new CrashDirectory(1);
            var metadata = new CrashDirectory(2);
            var copies = new KeyHeaderCopies(data, metadata);
            copies.write(old, null);
            int[] changes = {0};
            int failing = step;
            HookedDirectory.Hook hook = (call, name) -> {
                if (changes[0]++ >= failing) {
                    throw new IOException("no space left");
                }
            };
            var one = new HookedDirectory(data);
            var two = new HookedDirectory(metadata);
            one.hook = hook;
            two.hook = hook;
            try {
                List<String> failures = new KeyHeaderCopies(one, two).write(changed, null);
                isWhole = failures.isEmpty();
                inForce += isWhole ? 0 : 1;
                assertTrue(isWhole || failures.get(failures.size() - 1).contains("no space left"), failures.toString());
                opensWith(copies, "new", isWhole);
            } catch (IOException e) {
                refused++;
                opensWith(copies, "old", true);
                assertFalse(data.exists(KeyHeader.NAME + ".new") || metadata.exists(KeyHeader.NAME + ".new"));
            }
        }
        assertTrue(refused > 2 && inForce > 1, refused + ", " + inForce);
    }

    /** @param areEqual whether both copies must be the header; else they may be */
    private static void opensWith(KeyHeaderCopies copies, String passphrase, boolean areEqual) throws IOException {
        try (KeyHeaderCopies.Unlocked opened = copies.read(VOLUME).open(passphrase(passphrase))) {
            assertTrue(opened.faults().isEmpty() || !areEqual, opened.faults().toString());
        }
        String other = passphrase.equals("old") ? "new" : "old";
        KeyException refused =
                assertThrows(KeyException.class, () -> copies.read(VOLUME).open(passphrase(other)));
        assertEquals(KeyException.Reason.WRONG_SECRET, refused.reason());
    }

    @Test
    void aMissingFolderChangesNothing() throws IOException {
        var data = new CrashDirectory(1);
        new KeyHeaderCopies(data, new CrashDirectory(2)).write(old, null);
        var copies = new KeyHeaderCopies(data, null);
        assertTrue(assertThrows(IOException.class, () -> copies.write(changed, null))
                .getMessage()
                .contains("is missing"));
        assertEquals(old.generation(), copies.read(VOLUME).header().generation());
    }

    /** Bytes of the header with a higher generation and a right checksum, as somebody without the master key makes. */
    private static byte[] raised(KeyHeader header) {
        byte[] bytes = header.bytes().clone();
        bytes[KeyHeaderTest.GENERATION + 4] += 1;
        return ParserSet.withCrc(bytes, -4);
    }

    @Test
    void aForgedCopyDefeatsNotTheOther() throws IOException {
        byte[] noSlot = raised(changed);
        // Of the slot, so that nothing opens it.
        noSlot[noSlot.length - 40] ^= 1;
        byte[] dear = raised(changed);
        // Memory of the slot: 4 GiB, more than the heap.
        dear[dear.length - 36 - 48 - 7] = 0x40;
        byte[] malformed = raised(changed);
        malformed[KeyHeaderTest.GENERATION - 1] = 7;
        byte[] later = changed.bytes().clone();
        later[4] = 2;
        for (byte[] forged : List.of(raised(changed), raised(old), noSlot, dear, malformed, later)) {
            byte[] bytes = ParserSet.withCrc(forged.clone(), -4);
            var data = new CrashDirectory(1);
            var metadata = new CrashDirectory(2);
            var copies = new KeyHeaderCopies(data, metadata);
            copies.write(changed, null);
            for (CrashDirectory attacked : List.of(data, metadata)) {
                attacked.put(KeyHeader.NAME, bytes);
                try (KeyHeaderCopies.Unlocked opened = copies.read(VOLUME).open(passphrase("new"))) {
                    assertEquals(changed.generation(), opened.header().generation());
                    assertEquals(1, opened.faults().size(), opened.faults().toString());
                    assertTrue(
                            opened.faults().get(0).startsWith(attacked == data ? "data" : "metadata"),
                            opened.faults().toString());
                }
                assertEquals(
                        changed.generation(),
                        copies.read(VOLUME).authentic(MASTER).generation());
                assertThrows(IOException.class, () -> copies.read(VOLUME).open(passphrase("old")));
                // Nobody waits for a copy that was made dear.
                KeyHeader first = copies.read(VOLUME).cheapestFirst().get(0);
                assertTrue(
                        forged != dear || first.generation() == changed.generation(), "the dear copy is tried first");
                // A header of a later program is not overwritten.
                boolean stays = forged == later;
                assertEquals(stays ? 0 : 1, copies.repair(changed, MASTER).size());
                assertEquals(stays, !copies.read(VOLUME).faults().isEmpty());
                if (stays) {
                    assertThrows(KeyException.class, () -> copies.write(changed, null));
                    attacked.put(KeyHeader.NAME, changed.bytes());
                }
            }
        }
    }

    @Test
    void twoForgedCopiesAreRefused() throws IOException {
        var data = new CrashDirectory(1);
        var metadata = new CrashDirectory(2);
        data.put(KeyHeader.NAME, raised(changed));
        metadata.put(KeyHeader.NAME, raised(changed));
        KeyHeaderCopies.Found found = new KeyHeaderCopies(data, metadata).read(VOLUME);
        for (KeyException refused : List.of(
                assertThrows(KeyException.class, () -> found.open(passphrase("new"))),
                assertThrows(KeyException.class, () -> found.authentic(MASTER)))) {
            assertEquals(KeyException.Reason.FORGED, refused.reason());
        }
    }

    @Test
    void theHeaderOfAnotherVolumeIsPassedOverAndKept() throws IOException {
        KeyHeader other = KeyHeader.create(
                UUID.randomUUID(),
                AeadCipher.AES_256_GCM,
                MASTER.clone(),
                "",
                NOW.plusSeconds(100),
                CHEAP,
                passphrase("new"));
        var data = new CrashDirectory(1);
        var metadata = new CrashDirectory(2);
        var copies = new KeyHeaderCopies(data, metadata);
        copies.write(changed, null);
        metadata.put(KeyHeader.NAME, other.bytes());
        try (KeyHeaderCopies.Unlocked opened = copies.read(VOLUME).open(passphrase("new"))) {
            assertEquals(VOLUME, opened.header().volume());
            assertTrue(opened.faults().get(0).contains("it is that of volume " + other.volume()));
        }
        assertEquals(List.of(), copies.repair(changed, MASTER));
        assertThrows(KeyException.class, () -> copies.write(changed, null));
        assertEquals(other.volume(), copies.read(other.volume()).header().volume());
    }
}

package org.opendedup.sar.sdfs.cli.mounts;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Set;
import org.junit.jupiter.api.Test;

class MountAccessTest {
    @Test
    void saysWhoMayEnterAndWhatWorks() {
        assertEquals(
                "Every user may enter, as the files' permissions allow;"
                        + " set-user-ID programs and devices do not work (nosuid, nodev).",
                new MountAccess(Set.of("rw", "nosuid", "nodev", "allow_other")).text());
        assertEquals(
                "Only the user who mounted may enter; set-user-ID programs and devices work.",
                new MountAccess(Set.of("rw")).text());
        assertEquals(
                "Only the user who mounted may enter; devices work, set-user-ID programs do not (nosuid).",
                new MountAccess(Set.of("rw", "nosuid")).text());
    }

    @Test
    void aRemountKeepsWhatItIsNotAskedToChange() {
        assertEquals("dev,", new MountAccess(Set.of("ro", "rw", "nosuid", "noatime", "allow_other")).kept());
        assertEquals("suid,", new MountAccess(Set.of("rw", "sync", "nodev", "noexec")).kept());
        assertEquals("suid,dev,", new MountAccess(Set.of("rw")).kept());
        assertEquals("", new MountAccess(Set.of("rw", "nosuid", "nodev")).kept());
    }
}

package org.opendedup.sar.sdfs.fuse;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class MountOptionsTest {
    private final MountOptions defaults = MountOptions.of(Path.of("/mnt"), "vol");

    @Test
    void optionsOfMountAreUnderstood() {
        MountOptions options =
                defaults.with("ro,noatime,nosuid,nodev,noexec,sync,allow_other,threads=3,read_ahead_kb=128");
        assertTrue(options.readOnly() && options.noAccessTime() && options.noExec() && options.allowOther());
        assertTrue(options.noSuid() && options.noDev() && options.synchronous());
        assertFalse(defaults.readOnly() || defaults.noExec() || defaults.allowOther() || defaults.synchronous());
        assertTrue(defaults.noSuid() && defaults.noDev());
        assertFalse(
                options.with("allow_suid").noSuid() || options.with("allow_dev").noDev());
        assertEquals(3, options.threads());
        assertEquals(128, options.readAheadKib());
        assertEquals(
                defaults,
                options.with("rw,atime,suid,dev,exec,async,nosuid,nodev,noallow_other,threads=8,read_ahead_kb=4096"));
        assertEquals(defaults, defaults.with(""));
    }

    /** mount(8) puts nosuid and nodev first, wherever the line of fstab has them. */
    @Test
    void whatIsForbiddenIsNotAllowedByAnotherOptionInAnyOrder() {
        for (String both : new String[] {"nosuid,nodev,allow_suid,allow_dev", "allow_suid,allow_dev,nosuid,nodev"}) {
            assertTrue(defaults.with(both).noSuid() && defaults.with(both).noDev(), both);
        }
        MountOptions one = defaults.with("nosuid,allow_dev");
        assertTrue(one.noSuid() && !one.noDev());
        MountOptions other = defaults.with("nodev,allow_suid");
        assertTrue(other.noDev() && !other.noSuid());
    }

    @Test
    void requestsAndWakeUpsAreChosen() {
        assertTrue(defaults.fastWakeUp()
                && defaults.with("nofast_wakeup,fast_wakeup").fastWakeUp());
        assertFalse(defaults.with("nofast_wakeup").fastWakeUp());
        assertFalse(defaults.showsSnapshots());
        assertTrue(defaults.with("show_snapshots").showsSnapshots());
        assertFalse(defaults.with("show_snapshots,hide_snapshots").showsSnapshots());
        assertEquals(KernelRequests.ALL, defaults.requests());
        assertFalse(defaults.with("noflush").requests().flushes());
        assertFalse(defaults.with("noacl").requests().enforceAccessLists());
        assertTrue(defaults.with("noacl").requests().extendedAttributes());
        assertFalse(defaults.with("noxattr").requests().enforceAccessLists());
        assertEquals(defaults, defaults.with("noflush,noacl,noxattr,flush,acl,xattr"));
    }

    @Test
    void passthroughIsChosen() {
        assertFalse(defaults.passthrough());
        assertTrue(defaults.with("passthrough").passthrough());
        assertEquals(defaults, defaults.with("passthrough,nopassthrough"));
    }

    @Test
    void unknownOptionsAreNamed() {
        for (String bad : new String[] {
            "rx", "io_uring", "noio_uring", "threads=x", "threads=0", "threads=65", "speed=9", "read_ahead_kb=-1"
        }) {
            assertThrows(IllegalArgumentException.class, () -> defaults.with(bad), bad);
        }
    }

    @Test
    void aChoiceOfTheBindingIsRefusedWithWhatToDo() {
        for (String former : new String[] {"fuse_binding=kernel", "fuse_binding=jnr"}) {
            IllegalArgumentException refused =
                    assertThrows(IllegalArgumentException.class, () -> defaults.with("ro," + former));
            assertEquals(
                    "mount option '" + former + "': there is one FUSE binding, which needs no option; remove this one",
                    refused.getMessage());
        }
    }
}

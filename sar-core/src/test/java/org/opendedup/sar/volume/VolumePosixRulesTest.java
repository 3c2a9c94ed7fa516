package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.opendedup.sar.volume.posix.AccessControlListTest.GROUP;
import static org.opendedup.sar.volume.posix.AccessControlListTest.MASK;
import static org.opendedup.sar.volume.posix.AccessControlListTest.OTHERS;
import static org.opendedup.sar.volume.posix.AccessControlListTest.OWNER;
import static org.opendedup.sar.volume.posix.AccessControlListTest.USER;
import static org.opendedup.sar.volume.posix.AccessControlListTest.list;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.common.PosixException.Reason;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.volume.node.Node;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.posix.AttributeChange;
import org.opendedup.sar.volume.posix.Attributes;
import org.opendedup.sar.volume.posix.Owner;
import org.opendedup.sar.volume.posix.RenameMode;
import org.opendedup.sar.volume.posix.SetMode;

/** Access lists, files without a name, and access by inode number. */
class VolumePosixRulesTest extends OpenVolumeTrial {
    private static final byte[] ACCESS = name("system.posix_acl_access");
    private static final byte[] DEFAULT = name("system.posix_acl_default");
    private static final byte[] DEFAULTS = list(OWNER, 7, USER, 6, GROUP, 5, MASK, 7, OTHERS, 0);
    /** A user who wants other users to have no access. */
    private static final Owner ALICE = new Owner(1000, 1000, 077);

    @AfterEach
    void check() throws IOException {
        assertConsistent();
    }

    private static byte[] name(String name) {
        return name.getBytes(UTF_8);
    }

    private static void assertRefused(Reason reason, Executable call) {
        assertEquals(reason, assertThrows(PosixException.class, call).reason());
    }

    private Attributes make(long directory, String name, int mode) throws IOException {
        return volume.makeNode(directory, name(name), 0100000 | mode, 0, ALICE);
    }

    private long directoryWithDefaults() throws IOException {
        long inode = volume.makeDirectory(Inode.ROOT, name("d"), 0755, ALICE).inode();
        volume.setExtendedAttribute(inode, DEFAULT, DEFAULTS, SetMode.CREATE_OR_REPLACE);
        return inode;
    }

    @Test
    void aNameThatWouldLeadElsewhereIsRefusedWhereverANameIsMade() throws IOException {
        long file = make(Inode.ROOT, "file", 0100644).inode();
        byte[] source = name("file");
        for (String bad : List.of("", ".", "..", "../victim", "a/b", "/etc", "a\0b")) {
            byte[] name = name(bad);
            assertRefused(Reason.EINVAL, () -> volume.makeNode(Inode.ROOT, name, 0100644, 0, ALICE));
            assertRefused(Reason.EINVAL, () -> volume.makeDirectory(Inode.ROOT, name, 0755, ALICE));
            assertRefused(Reason.EINVAL, () -> volume.makeSymbolicLink(Inode.ROOT, name, name("x"), ALICE));
            assertRefused(Reason.EINVAL, () -> volume.link(file, Inode.ROOT, name));
            assertRefused(Reason.EINVAL, () -> volume.rename(Inode.ROOT, source, Inode.ROOT, name, RenameMode.REPLACE));
        }
        byte[] longest = new byte[255];
        Arrays.fill(longest, (byte) 'x');
        volume.link(file, Inode.ROOT, longest);
        byte[] tooLong = Arrays.copyOf(longest, 256);
        tooLong[255] = 'x';
        assertRefused(Reason.ENAMETOOLONG, () -> volume.link(file, Inode.ROOT, tooLong));
    }

    @Test
    void theUmaskHoldsWhereThereIsNoDefaultList() throws IOException {
        assertEquals(0100600, make(Inode.ROOT, "f", 0666).mode());
        assertEquals(
                0042700,
                volume.makeDirectory(Inode.ROOT, name("d"), 02777, ALICE).mode());
        assertEquals(
                0120777,
                volume.makeSymbolicLink(Inode.ROOT, name("l"), name("x"), ALICE).mode());
    }

    @Test
    void aDefaultListIsInheritedAndTakesTheUmasksPlace() throws IOException {
        long directory = directoryWithDefaults();
        long file = make(directory, "f", 0664).inode();
        long below = volume.makeDirectory(directory, name("e"), 0777, ALICE).inode();
        reopen();
        assertEquals(0100660, volume.attributes(file).mode());
        assertArrayEquals(
                list(OWNER, 6, USER, 6, GROUP, 5, MASK, 6, OTHERS, 0), volume.extendedAttribute(file, ACCESS));
        assertNull(volume.extendedAttribute(file, DEFAULT));
        assertEquals(0040770, volume.attributes(below).mode());
        assertArrayEquals(DEFAULTS, volume.extendedAttribute(below, DEFAULT));
        assertArrayEquals(DEFAULTS, volume.extendedAttribute(below, ACCESS));
    }

    @Test
    void chmodAndTheAccessListChangeTogether() throws IOException {
        long file = make(Inode.ROOT, "f", 0600).inode();
        volume.setExtendedAttribute(
                file, ACCESS, list(OWNER, 6, USER, 7, GROUP, 0, MASK, 5, OTHERS, 4), SetMode.CREATE_OR_REPLACE);
        assertEquals(0100654, volume.attributes(file).mode());
        volume.change(file, AttributeChange.ofMode(04721));
        assertEquals(0104721, volume.attributes(file).mode());
        assertArrayEquals(
                list(OWNER, 7, USER, 7, GROUP, 0, MASK, 2, OTHERS, 1), volume.extendedAttribute(file, ACCESS));
        volume.setExtendedAttribute(file, ACCESS, list(OWNER, 6, GROUP, 4, OTHERS, 0), SetMode.CREATE_OR_REPLACE);
        assertEquals(0104640, volume.attributes(file).mode());
        assertNull(volume.extendedAttribute(file, ACCESS), "a list that is a mode is not kept");
        volume.removeExtendedAttribute(file, ACCESS);
    }

    @Test
    void listsAreRefusedWhereTheyMakeNoSense() throws IOException {
        long file = make(Inode.ROOT, "f", 0600).inode();
        byte[] defaults = list(OWNER, 7, GROUP, 7, OTHERS, 7);
        assertRefused(
                Reason.EACCES, () -> volume.setExtendedAttribute(file, DEFAULT, defaults, SetMode.CREATE_OR_REPLACE));
        assertRefused(
                Reason.EINVAL, () -> volume.setExtendedAttribute(file, ACCESS, new byte[9], SetMode.CREATE_OR_REPLACE));
        assertEquals(List.of(), volume.extendedAttributes(file));
    }

    @Test
    void namesOfAttributesTakeNoMoreThanLinuxLists() throws IOException {
        long file = make(Inode.ROOT, "f", 0600).inode();
        for (int i = 0; i < 256; i++) {
            String name = "user." + i + "n".repeat(250 - Integer.toString(i).length());
            volume.setExtendedAttribute(file, name(name), new byte[1], SetMode.CREATE);
        }
        assertRefused(
                Reason.ENOSPC, () -> volume.setExtendedAttribute(file, name("user.x"), new byte[1], SetMode.CREATE));
        assertEquals(256, volume.extendedAttributes(file).size());
    }

    /** A list of the names reads the values, too: one user could make each request take seconds. */
    @Test
    void valuesOfAttributesTakeNoMoreThanARequestCanRead() throws IOException {
        long file = make(Inode.ROOT, "f", 0644).inode();
        byte[] longest = new byte[64 << 10];
        for (int i = 0; i < 16; i++) {
            volume.setExtendedAttribute(file, name("user." + i), longest, SetMode.CREATE);
        }
        assertRefused(
                Reason.ENOSPC, () -> volume.setExtendedAttribute(file, name("user.more"), new byte[1], SetMode.CREATE));
        volume.setExtendedAttribute(file, name("user.more"), new byte[0], SetMode.CREATE);
        assertRefused(
                Reason.ENOSPC,
                () -> volume.setExtendedAttribute(file, name("user.more"), new byte[1], SetMode.REPLACE));
        reopen();
        volume.setExtendedAttribute(file, name("user.0"), longest, SetMode.REPLACE);
        volume.setExtendedAttribute(file, name("user.0"), new byte[(64 << 10) - 1], SetMode.REPLACE);
        volume.setExtendedAttribute(file, name("user.more"), new byte[1], SetMode.REPLACE);
        assertEquals(17, volume.extendedAttributes(file).size());
        volume.setExtendedAttribute(file, ACCESS, DEFAULTS, SetMode.CREATE);
        long other = make(Inode.ROOT, "g", 0644).inode();
        volume.setExtendedAttribute(other, name("user.a"), longest, SetMode.CREATE);
    }

    /** The walk to the root holds up all changes of names: its length is not for a user to choose. */
    @Test
    void noDirectoryIsMovedToADepthThatTakesLongToWalk() throws IOException {
        long moved =
                volume.makeDirectory(Inode.ROOT, name("moved"), 0755, ALICE).inode();
        long deepest = Inode.ROOT;
        long last = Inode.ROOT;
        for (int depth = 0; depth <= 4096; depth++) {
            last = deepest;
            deepest = volume.makeDirectory(last, name("d"), 0755, ALICE).inode();
        }
        long bottom = deepest;
        assertRefused(
                Reason.ENAMETOOLONG,
                () -> volume.rename(Inode.ROOT, name("moved"), bottom, name("moved"), RenameMode.REPLACE));
        volume.rename(Inode.ROOT, name("moved"), last, name("moved"), RenameMode.REPLACE);
        volume.rename(last, name("moved"), last, name("d2"), RenameMode.REPLACE);
        long top = volume.lookup(Inode.ROOT, name("d")).inode();
        assertRefused(Reason.EINVAL, () -> volume.rename(Inode.ROOT, name("d"), moved, name("x"), RenameMode.REPLACE));
        volume.forget(top, 1);
        make(Inode.ROOT, "file", 0644);
        volume.rename(Inode.ROOT, name("file"), bottom, name("file"), RenameMode.REPLACE);
        volume.makeDirectory(bottom, name("below"), 0755, ALICE);
        volume.rename(bottom, name("below"), bottom, name("same folder"), RenameMode.REPLACE);
    }

    @Test
    void capabilitiesAreDroppedAndOtherAttributesStay() throws IOException {
        long file = make(Inode.ROOT, "f", 0700).inode();
        volume.setExtendedAttribute(file, name("user.a"), new byte[1], SetMode.CREATE);
        volume.setExtendedAttribute(file, name("security.capability"), new byte[20], SetMode.CREATE);
        reopen();
        volume.dropCapability(file);
        volume.dropCapability(file);
        assertEquals(1, volume.extendedAttributes(file).size());
        volume.removeExtendedAttribute(file, name("user.a"));
        assertRefused(Reason.ENODATA, () -> volume.removeExtendedAttribute(file, name("user.a")));
        long directory =
                volume.makeDirectory(Inode.ROOT, name("d"), 0755, ALICE).inode();
        volume.setExtendedAttribute(directory, name("security.capability"), new byte[20], SetMode.CREATE);
        volume.dropCapability(directory);
        assertEquals(1, volume.extendedAttributes(directory).size(), "a directory's mean nothing, and stay");
    }

    @Test
    void aFileWithoutANameIsGoneWhenTheVolumeIsOpenedAgain() throws IOException {
        long inode = volume.makeUnnamed(Inode.ROOT, 0600, ALICE).inode();
        write(inode, 100_000);
        reopen();
        assertRefused(Reason.ESTALE, () -> volume.attributes(inode));
    }

    @Test
    void aFileThatGetsANameJustWhenItsTailIsGoneKeepsWhatIsWrittenThereLater() throws IOException {
        long inode = volume.makeUnnamed(Inode.ROOT, 0600, ALICE).inode();
        OpenFile file = volume.open(inode, true);
        Node node = file.node();
        write(inode, 3 << 20);
        volume.change(inode, AttributeChange.ofSize(1 << 20));
        synchronized (node) {
            node.contents().cutting = true;
        }
        volume.context().reaper().cut(node, 4, volume.context().nodes());
        volume.link(inode, Inode.ROOT, name("f"));
        synchronized (node) {
            node.endCutting();
        }
        write(inode, 3 << 20);
        volume.close(file);
        reopen();
        assertEquals(List.of(), volume.context().metadata().namespace().orphans());
        assertEquals(2 * (3 << 20) / 1024, volume.attributes(inode).blocks());
    }

    private void write(long inode, int bytes) throws IOException {
        OpenFile file = volume.open(inode, true);
        byte[] data = new byte[bytes];
        new java.util.Random(inode).nextBytes(data);
        volume.write(file, 0, ByteBuffer.wrap(data));
        volume.sync(file);
        volume.close(file);
    }

    @Test
    void anInodeIsFoundByItsNumberAlsoAfterReopening() throws IOException {
        long directory =
                volume.makeDirectory(Inode.ROOT, name("d"), 0755, ALICE).inode();
        long file = make(directory, "f", 0600).inode();
        reopen();
        assertEquals(file, volume.lookup(file, name(".")).inode());
        assertEquals(directory, volume.lookup(directory, name(".")).inode());
        assertEquals(Inode.ROOT, volume.lookup(directory, name("..")).inode());
        volume.unlink(directory, name("f"));
        volume.forget(file, 1);
        assertRefused(Reason.ESTALE, () -> volume.lookup(file, name(".")));
    }

    @Test
    void theLengthThatAFileHasLeavesTheTimesUnlessTheyAreNamed() throws IOException {
        long inode = make(Inode.ROOT, "f", 0600).inode();
        OpenFile file = volume.open(inode, true);
        volume.write(file, 0, ByteBuffer.wrap(new byte[10]));
        volume.close(file);
        volume.change(inode, new AttributeChange(null, null, null, null, null, 5L, 6L));
        volume.change(inode, AttributeChange.ofSize(10));
        assertEquals(5, volume.attributes(inode).modifiedNs());
        assertEquals(6, volume.attributes(inode).changedNs());
        volume.change(inode, AttributeChange.ofTruncation(10, Instant.ofEpochSecond(7, 8)));
        assertEquals(7_000_000_008L, volume.attributes(inode).modifiedNs());
        assertEquals(7_000_000_008L, volume.attributes(inode).changedNs());
        volume.change(inode, AttributeChange.ofSize(11));
        assertNotEquals(7_000_000_008L, volume.attributes(inode).modifiedNs());
        assertNotEquals(7_000_000_008L, volume.attributes(inode).changedNs());
    }

    @Test
    void bytesWrittenBackLeaveTheTimes() throws IOException {
        long inode = make(Inode.ROOT, "f", 0600).inode();
        volume.change(inode, new AttributeChange(null, null, null, null, null, 5L, 6L));
        OpenFile file = volume.open(inode, true);
        volume.writeBack(file, 0, ByteBuffer.wrap(new byte[10]));
        assertEquals(5, volume.attributes(inode).modifiedNs());
        assertEquals(6, volume.attributes(inode).changedNs());
        volume.write(file, 10, ByteBuffer.wrap(new byte[10]));
        assertEquals(20, volume.attributes(inode).size());
        assertEquals(
                volume.attributes(inode).modifiedNs(), volume.attributes(inode).changedNs());
        volume.close(file);
    }

    @Test
    void aWhiteoutOfTheCallerTakesTheOldName() throws IOException {
        long file = make(Inode.ROOT, "f", 0644).inode();
        volume.renameLeavingWhiteout(Inode.ROOT, name("f"), Inode.ROOT, name("g"), RenameMode.REPLACE, ALICE);
        reopen();
        assertEquals(file, volume.lookup(Inode.ROOT, name("g")).inode());
        Attributes whiteout = volume.lookup(Inode.ROOT, name("f"));
        assertEquals(0020000, whiteout.mode());
        assertEquals(0, whiteout.device());
        assertEquals(1, whiteout.links());
        assertEquals(ALICE.uid(), whiteout.uid());
        volume.link(file, Inode.ROOT, name("h"));
        volume.renameLeavingWhiteout(Inode.ROOT, name("g"), Inode.ROOT, name("h"), RenameMode.REPLACE, ALICE);
        assertEquals(file, volume.lookup(Inode.ROOT, name("g")).inode(), "two names of one file stay as they are");
    }

    @Test
    void aNameThatALookUpMissedIsMadeOnlyIfNothingElseHasItNow() throws IOException {
        Attributes made = make(Inode.ROOT, "made", 0644);
        for (String missed : List.of("again", "linked", "renamed")) {
            assertRefused(Reason.ENOENT, () -> volume.lookup(Inode.ROOT, name(missed)));
            switch (missed) {
                case "again" -> make(Inode.ROOT, missed, 0644);
                case "linked" -> volume.link(made.inode(), Inode.ROOT, name(missed));
                default -> volume.rename(Inode.ROOT, name("made"), Inode.ROOT, name(missed), RenameMode.NO_REPLACE);
            }
            assertRefused(Reason.EEXIST, () -> make(Inode.ROOT, missed, 0644));
        }
    }
}

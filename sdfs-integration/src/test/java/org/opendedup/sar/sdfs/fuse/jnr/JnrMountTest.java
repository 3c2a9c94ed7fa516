package org.opendedup.sar.sdfs.fuse.jnr;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.UserDefinedFileAttributeView;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.sdfs.fuse.Shell;
import org.opendedup.sar.volume.posix.SetMode;

/** The traps of libfuse 2 and jnr-fuse, on a mount of a file system in memory. */
@Timeout(120)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class JnrMountTest {
    private static final int KIB = 1 << 10;
    private static final int MIB = 1 << 20;

    /** Version 2, and what {@code chmod 644} says: owner, group, others. */
    private static final String ACCESS_LIST = "02000000" + "01000600ffffffff" + "04000400ffffffff" + "20000400ffffffff";

    private final WatchedFileSystem memory = new WatchedFileSystem();
    private ToyMount toy;
    /** A folder in the mount for each test. */
    private Path in;

    @BeforeAll
    void mount() throws IOException {
        toy = new ToyMount(memory, "rw,allow_other");
    }

    @AfterAll
    void unmount() throws Exception {
        if (toy != null) {
            toy.close();
        }
    }

    @BeforeEach
    void ownFolder(TestInfo test) throws IOException {
        in = Files.createDirectory(
                toy.root.resolve(test.getTestMethod().orElseThrow().getName()));
    }

    private String shell(String command) throws Exception {
        return Shell.run(in, command);
    }

    @Test
    void whatIsWrittenIsReadBackInLargeRequests() throws Exception {
        byte[] content = Shell.randomBytes(3 * MIB + 17);
        Files.write(in.resolve("file"), content);
        assertEquals("", shell("mount -i -o remount \"${PWD%/*}\"; dd if=file of=copy bs=1M status=none"));
        assertArrayEquals(content, Files.readAllBytes(in.resolve("copy")));
        assertEquals(128 * KIB, memory.largestWrite);
        assertEquals(128 * KIB, memory.largestRead);
    }

    @Test
    void anOpenFileWithoutANameIsReachedInEveryWay() throws Exception {
        assertEquals(
                "hello 5 0 640 3 5 0",
                shell("printf hello > f; exec 3<>f; rm f; f=/proc/self/fd/3; d() { stat -L -c $1 $f; };"
                        + " r=\"$(cat <&3) $(d %s) $(d %h)\"; chmod 640 $f; r=\"$r $(d %a)\"; "
                        + "truncate -s 3 $f; r=\"$r $(d %s)\";"
                        + " touch -m -d @5 $f; r=\"$r $(d %Y)\"; echo $r $(ls -A | wc -l)"));
    }

    @Test
    void theFolderOfAnOpenFileWithoutANameCanGo() throws Exception {
        assertEquals(
                "hello 5 0",
                shell("mkdir d; printf hello > d/f; exec 3<>d/f; rm d/f; rmdir d;"
                        + " echo $(cat <&3) $(stat -L -c '%s %h' /proc/self/fd/3); ls -A"));
        awaitNoReferences();
    }

    /** The file system learns of a close after the program that closed the file has continued. */
    private void awaitNoReferences() throws InterruptedException {
        for (int i = 0; i < 500 && memory.referencesHeld() > 0; i++) {
            Thread.sleep(10);
        }
        assertEquals(0, memory.referencesHeld());
    }

    @Test
    void aTimeThatIsNotGivenStays() throws Exception {
        assertEquals("7 5", shell("touch -d @5 f; touch -a -d @7 f; stat -c '%X %Y' f"));
        assertEquals("7 9", shell("touch -m -d @9 f; stat -c '%X %Y' f"));
        assertEquals("-1.500000000", shell("touch -d @-1.5 f; stat -c %.9Y f"));
    }

    @Test
    void theKernelKeepsThePagesOfAFileWithOneNameOnly() throws Exception {
        shell("head -c 100000 /dev/zero > f; cat f");
        int before = memory.reads;
        shell("cat f; cat f");
        assertEquals(before, memory.reads, "read from the cache");

        shell("ln f g; cat f");
        int direct = memory.reads;
        shell("cat f");
        assertTrue(memory.reads > direct, "read past the cache");
    }

    @Test
    void aChangeThroughOneNameIsSeenThroughTheOther() throws Exception {
        assertEquals(
                "one 3 three 5 threefour",
                shell("printf one > f; r=$(cat f); ln f g; r=\"$r $(stat -c %s g)\"; printf three > g;"
                        + " r=\"$r $(cat f) $(stat -c %s f)\"; printf four >> f; echo $r $(cat g)"));
        assertEquals("600 600", shell("chmod 600 g; echo $(stat -c %a f g)"));
        assertEquals("1", shell("rm g; stat -c %h f"));
    }

    @Test
    void aReaderThatKeepsAFileWithTwoNamesOpenSeesWhatIsWritten() throws Exception {
        assertEquals(
                "old new", shell("printf old > f; ln f g; exec 3<f; r=$(cat f); printf new > g; echo $r $(cat <&3)"));
    }

    @Test
    void appendsThroughBothNamesAllLand() throws Exception {
        assertEquals(
                "400",
                shell("touch f; ln f g; exec 3>>f 4>>g; for i in {1..200}; do echo "
                        + ">&3; echo >&4; done; cat f | wc -l"));
    }

    @Test
    void aRenameReplacesAnOpenFileAtOnce() throws Exception {
        int unlinks = memory.unlinks;
        assertEquals(
                "new old 1",
                shell("printf old > f; printf new > n; exec 3<f; mv n f; echo $(cat f) $(cat <&3) $(ls -A | wc -l)"));
        assertEquals(unlinks, memory.unlinks, "no moment without the name");
    }

    @Test
    void aFileMayHaveANameLikeThoseThatLibfuseGives() throws Exception {
        int renames = memory.renames;
        assertEquals(
                "kept",
                shell("printf kept > f; exec 3<f; mv f .fuse_hidden0000000100000001; exec 3<&-; cat .fuse_hidden*"));
        assertEquals(renames + 1, memory.renames);
        assertEquals("", shell("rm .fuse_hidden*; ls -A"));
    }

    @Test
    void openingCutsAFileOffInOneCall() throws Exception {
        shell("echo long > f");
        int truncations = memory.truncations;
        assertEquals("0", shell(": > f; stat -c %s f"));
        assertEquals(truncations + 1, memory.truncations);
    }

    @Test
    void aLargeDirectoryIsListedInPieces() throws Exception {
        assertEquals(
                "5000 5000",
                shell("touch file-with-a-longer-name-{1..5000}; echo $(ls | sort -u | "
                        + "wc -l) $(ls -l | grep -c longer)"));
        assertTrue(memory.mostEntriesListedAtOnce < 2500, "at once " + memory.mostEntriesListedAtOnce);
        assertEquals("0", shell("rm -f file-*; ls -A | wc -l"));
    }

    @Test
    void namesAreBytes() throws Exception {
        assertEquals("1", shell("n=$'sp\\303\\244ce \\377'; echo > \"$n\"; ls | LC_ALL=C grep -cF \"$n\""));
        assertEquals("1", shell("mkdir $'\\377'; echo > $'\\377'/f; ls $'\\377' | wc -l"));
    }

    @Test
    void namesAreLinkedMadeAndRemoved() throws Exception {
        assertEquals("elsewhere", shell("ln -s elsewhere s; readlink s"));
        assertEquals("fifo 1:3", shell("mkfifo p; mknod c c 1 3; echo $(stat -c %F p) $(stat -c '%t:%T' c)"));
        assertTrue(shell("mkdir d; touch d/f; rmdir d").contains("not empty"));
        assertTrue(shell("mkdir d").contains("File exists"));
        assertTrue(shell("cat none").contains("No such file"));
        assertTrue(shell("cat p/x").contains("Not a directory"));
        assertEquals("f", shell("mv d e; ls e"));
    }

    @Test
    void whatACallerMakesIsHisWithTheModeHeAsked() throws Exception {
        assumeTrue(shell("id -u").equals("0"), "skipped: needs root");
        String asNobody = "setpriv --reuid=65534 --regid=65533 --clear-groups bash -c ";
        assertEquals(
                "65534 65533 604",
                shell("chmod 777 .; " + asNobody + "'umask 062; touch f; mkdir d'; stat -c '%u %g %a' f"));
        assertEquals("65534 65533 715", shell("stat -c '%u %g %a' d"));
        assertTrue(
                shell("touch mine; chmod 600 mine; " + asNobody + "'cat mine'").contains("Permission denied"));
        assertEquals("777", shell("chmod 6777 mine; " + asNobody + "'echo 2 >> mine'; stat -c %a mine"));
        assertEquals("777", shell("chmod 6777 mine; chown 5 mine; stat -c %a mine"));
    }

    @Test
    void extendedAttributesAreKept() throws Exception {
        Path file = Files.createFile(in.resolve("f"));
        byte[] value = Shell.randomBytes(60_000);
        var view = Files.getFileAttributeView(file, UserDefinedFileAttributeView.class);
        view.write("large", ByteBuffer.wrap(value));
        view.write("empty", ByteBuffer.allocate(0));
        ByteBuffer back = ByteBuffer.allocate(view.size("large"));
        view.read("large", back);
        assertArrayEquals(value, back.array());
        assertEquals(0, view.size("empty"));
        assertEquals(2, view.list().size());
        view.delete("large");
        assertThrows(IOException.class, () -> view.size("large"));
    }

    @Test
    void trustedAttributesAreShownToRootOnly() throws Exception {
        assumeTrue(shell("command -v setfattr").startsWith("/"), "skipped: needs setfattr (package attr)");
        assumeTrue(shell("id -u").equals("0"), "skipped: needs root");
        shell("chmod 755 .; touch f; setfattr -n trusted.t -v 1 f; setfattr -n user.u -v 1 f");
        assertEquals("trusted.t user.u", shell("echo $(getfattr -m - f | grep -v '^#')"));
        assertEquals(
                "user.u",
                shell("setpriv --reuid=65534 --regid=65533 --clear-groups getfattr -m - f | grep -v '^#' | xargs"));
    }

    @Test
    void accessListsAreRefused() throws Exception {
        assumeTrue(shell("command -v setfattr").startsWith("/"), "skipped: needs setfattr (package attr)");
        String refused = shell("touch f; setfattr -n system.posix_acl_access -v 0x" + ACCESS_LIST + " f");
        assertTrue(refused.contains("not supported"), refused);
    }

    /**
     * Set by the other binding: users get less by it than the mode says, and this one cannot have the kernel check it.
     */
    @Test
    void whatHasAnAccessListIsForItsOwnerAndRoot() throws Exception {
        String denied = "Permission denied";
        shell("chmod 755 ..; chmod 755 .; echo text > f; chown 1000 f; chmod 4666 f; "
                + "mkdir d; echo deep > d/f; chmod 777 d");
        assertEquals("text", shell(as(1001) + "cat f"), "the control");
        assertEquals("deep", shell(as(1001) + "cat d/f"), "the control");
        for (String name : List.of("f", "d")) {
            setAccessList(name, ACCESS_LIST);
        }
        assertEquals("text", shell(as(1001) + "cat f"), "a list that says what the mode says");
        // One user more, with nothing, and a mask.
        String list = "02000000" + "01000600ffffffff" + "02000000e9030000" + "04000600ffffffff" + "10000600ffffffff"
                + "20000600ffffffff";
        for (String name : List.of("f", "d")) {
            setAccessList(name, list);
        }
        for (String what : List.of("cat f", "sh -c 'echo 1 >> f'", "cat d/f", "ls d", "touch d/new", "rm -f d/f")) {
            assertTrue(shell(as(1001) + what).contains(denied), what);
            assertTrue(shell(as(1002) + what).contains(denied), what);
        }
        assertEquals("text", shell("cat f"));
        assertEquals("text", shell(as(1000) + "cat f"));
        // The kernel takes setuid away by a mode without group and others, which it does not see.
        shell(as(1000) + "sh -c 'echo more >> f'");
        assertEquals(0100666, memory.attributes(inode("f")).mode());
        assertEquals("600", shell("stat -c %a f"));
        // What its owner says is done.
        shell(as(1000) + "chmod 640 f");
        assertEquals(0100640, memory.attributes(inode("f")).mode());
    }

    private static String as(int user) {
        return "setpriv --reuid=" + user + " --regid=" + user + " --clear-groups ";
    }

    private long inode(String name) throws Exception {
        return Long.parseLong(shell("stat -c %i " + name));
    }

    private void setAccessList(String name, String hexadecimal) throws Exception {
        byte[] attribute = "system.posix_acl_access".getBytes(StandardCharsets.US_ASCII);
        byte[] list = HexFormat.of().parseHex(hexadecimal);
        memory.setExtendedAttribute(inode(name), attribute, list, SetMode.CREATE_OR_REPLACE);
    }

    @Test
    void everyReferenceIsGivenBack() throws Exception {
        shell("mkdir d; for i in {1..9}; do echo $i > d/$i; ln d/$i d/l$i; done; ls -lR; rm d/l1; cat d/*; mv d/2 d/3;"
                + " cat d/none; ln -s x d/s; mkfifo d/p; find . ; exec 3<d/4; rm d/4 d/l4");
        awaitNoReferences();
    }

    @Test
    void everyReferenceIsGivenBackAfterACrowdOnTheSameNames() throws Exception {
        String member =
                "for j in {1..60}; do echo $j > f$((j % 3)); exec 3<f$((j % 2)); mv f0 f1; rm f$((j % 3)); ln f1 f2;"
                        + " stat -L /proc/self/fd/3; chmod 600 /proc/self/fd/3; cat <&3; mkdir "
                        + "d; echo > d/g; exec 4<d/g; rm -r d;"
                        + " done >/dev/null 2>&1";
        assertEquals("", shell("for i in {1..6}; do ( " + member + " ) & done; wait"));
        awaitNoReferences();
        assertEquals("0", shell("rm -rf f* d; ls -A | wc -l"));
    }

    @Test
    void rangesAreAllocatedPunchedAndZeroed() throws Exception {
        assertEquals(
                "0123456789 13 01..4....9 20",
                shell("printf 0123456789 > f; ln f g; fallocate -n -l 99 f; fallocate -l 13 f; r=$(tr -d '\\0' < f);"
                        + " r=\"$r $(stat -c %s f)\"; fallocate -p -o 2 -l 2 g; fallocate -z -n -o 5 -l 4 f;"
                        + " r=\"$r $(head -c 10 f | tr '\\0' .)\"; fallocate -z -o 15 -l "
                        + "5 f; echo \"$r $(stat -c %s g)\""));
        assertTrue(shell("fallocate -c -l 4096 f").contains("not supported"));
    }

    @Test
    void theMountShowsItsNameAndSpace() throws Exception {
        String line = shell("grep ' " + toy.root + " ' /proc/self/mounts");
        assertTrue(line.startsWith("toy " + toy.root + " fuse.sdfs rw,"), line);
        assertTrue(line.contains("default_permissions,allow_other,max_read=131072"), line);
        assertEquals("268435456 134217728 4096 255", shell("stat -f -c '%b %a %S %l' ."));
        assertTrue(toy.mount.bufferBytes() > 8 * 128 * KIB);
    }

    @Test
    void aProgramsWritesAreSyncedAndLocked() throws Exception {
        Path file = in.resolve("f");
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            channel.write(ByteBuffer.wrap("synced".getBytes(StandardCharsets.UTF_8)));
            channel.force(true);
            try (var lock = channel.lock()) {
                assertTrue(lock.isValid());
            }
        }
        assertEquals("synced", shell("sync f; sync .; cat f"));
    }
}

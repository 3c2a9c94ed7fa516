package org.opendedup.sar;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.lang.conditions.ArchPredicates.are;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.fields;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static java.util.Map.entry;
import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import java.io.Externalizable;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.FileReader;
import java.io.FileWriter;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.RandomAccessFile;
import java.io.Serializable;
import java.nio.channels.AsynchronousFileChannel;
import java.nio.channels.FileChannel;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.opendedup.sar.sdfs.keys.SecretSource;
import picocli.CommandLine.Command;

/** Checks the layers and conventions that a compiler does not check: see docs/ARCHITECTURE.md. */
class ArchitectureTest {
    private static final String ROOT = "org.opendedup.sar";

    private static final Set<String> DATABASE_FILES = Set.of(
            ROOT + ".metadata.db.LogTail",
            ROOT + ".metadata.db.LogFragments",
            ROOT + ".metadata.db.AcknowledgedSequence",
            ROOT + ".metadata.db.SyncedManifest");

    /**
     * The packages of the project that each package of the engine may import, in addition to itself. The front ends
     * (sdfs, simulator, plugin) are at the top: they may import any of these, and none of these may import them.
     */
    private static final Map<String, Set<String>> LAYERS = new TreeMap<>(Map.ofEntries(
            entry("common", Set.of()),
            entry("crypt", Set.of()),
            entry("io", Set.of("common")),
            entry("keys", Set.of("crypt", "objects", "io", "common")),
            entry("objects", Set.of("io", "common")),
            entry("hdfs", Set.of("objects", "io", "common")),
            entry("s3", Set.of("objects", "io", "common")),
            entry("cluster", Set.of("crypt", "chunk", "objects", "io", "common")),
            entry("sort", Set.of("crypt", "io", "common")),
            entry("chunk", Set.of("crypt", "io", "common")),
            entry("index", Set.of("crypt", "chunk", "io", "common")),
            entry("container", Set.of("crypt", "io", "common")),
            entry("remote", Set.of("container", "objects", "disk", "io", "common")),
            entry("metadata", Set.of("crypt", "objects", "io", "common")),
            entry("raw", Set.of("crypt", "io", "common")),
            entry("ssd", Set.of("crypt", "container", "io", "common")),
            entry("disk", Set.of("io", "common")),
            entry("hot", Set.of("crypt", "ssd", "index", "disk", "chunk", "container", "metadata", "io", "common")),
            entry("collect", Set.of("crypt", "disk", "chunk", "index", "container", "metadata", "io", "common")),
            entry(
                    "scrub",
                    Set.of(
                            "crypt",
                            "hot",
                            "ssd",
                            "index",
                            "chunk",
                            "disk",
                            "container",
                            "metadata",
                            "sort",
                            "io",
                            "common")),
            entry(
                    "heal",
                    Set.of("crypt", "collect", "disk", "chunk", "index", "container", "metadata", "io", "common")),
            entry("check", Set.of("crypt", "container", "metadata", "sort", "io", "common")),
            entry("ingest", Set.of("crypt", "hot", "ssd", "chunk", "index", "container", "metadata", "io", "common")),
            entry(
                    "restore",
                    Set.of(
                            "crypt",
                            "hot",
                            "ssd",
                            "disk",
                            "chunk",
                            "index",
                            "container",
                            "metadata",
                            "sort",
                            "io",
                            "common")),
            entry("arrange", Set.of("common")),
            entry("join", Set.of("chunk", "index", "io", "common")),
            entry(
                    "volume",
                    Set.of(
                            "crypt",
                            "objects",
                            "remote",
                            "join",
                            "arrange",
                            "ingest",
                            "collect",
                            "scrub",
                            "heal",
                            "check",
                            "restore",
                            "hot",
                            "disk",
                            "chunk",
                            "index",
                            "container",
                            "metadata",
                            "raw",
                            "sort",
                            "io",
                            "common"))));

    /** The rooms of a divided layer, ground first. Each may import those before it; "" is the layer's own package. */
    private static final Map<String, List<String>> ROOMS = Map.of(
            "metadata",
            List.of(
                    "record",
                    "db",
                    "backup",
                    "remote",
                    "versions",
                    "pending",
                    "counts",
                    "quota",
                    "recipes",
                    "",
                    "repair"),
            "volume",
            List.of(
                    "config",
                    "posix",
                    "stream",
                    "node",
                    "store",
                    "backup",
                    "commit",
                    "engine",
                    "write",
                    "care",
                    "raw",
                    "chunks",
                    "names",
                    "snapshot",
                    "parts",
                    "file",
                    "quota",
                    "rewrite",
                    "clone",
                    "diff",
                    "send",
                    "receive",
                    ""));

    /** Rooms of values, which every layer above may use. */
    private static final Set<String> OPEN_ROOMS =
            Set.of("metadata.record", "volume.config", "volume.posix", "volume.stream");

    /** What layers above may use of the other rooms. The rest is for the room's siblings. */
    private static final Map<String, Set<String>> FACES = Map.ofEntries(
            entry("metadata.backup", Set.of("Backup", "BackupFile", "BackupFolder", "BackupOrigin", "BackupPlace")),
            entry("metadata.counts", Set.of("DamageRecords", "FormerPlaces", "NewDamage", "ReferenceCounts")),
            entry("metadata.db", Set.of("KeyValueStore", "KeyValueStores", "RecordCursor")),
            entry(
                    "metadata.remote",
                    Set.of(
                            "DataBarrier",
                            "OwnerChangedException",
                            "Promise",
                            "RemoteMetadata",
                            "ShippedKeyValueStore",
                            "ShippingLimits",
                            "ShippingStatistics")),
            entry("metadata.pending", Set.of("ContainerTable", "Generation", "StepLimit", "Uncommitted")),
            entry("metadata.quota", Set.of("Account", "QuotaState", "Quotas", "Recount")),
            entry(
                    "metadata.recipes",
                    Set.of(
                            "HeldRecipe",
                            "RecipeRanges",
                            "RecipeStore",
                            "ReplacedPages",
                            "StreamLogs",
                            "VersionRelease")),
            entry("metadata.versions", Set.of("Snapshots", "StateDifference")),
            entry(
                    "metadata.repair",
                    Set.of(
                            "BackingFiles",
                            "Corrections",
                            "LostRecords",
                            "MetadataRepair",
                            "MetadataSalvage",
                            "SalvageRepair")),
            entry(
                    "volume.backup",
                    Set.of(
                            "MetadataBackups",
                            "MetadataMend",
                            "MetadataReport",
                            "MetadataRestore",
                            "MetadataSalvager",
                            "NewerContainers")),
            entry(
                    "volume.care",
                    Set.of(
                            "ChunkSearch",
                            "DamageFound",
                            "DamageReport",
                            "FoundChunk",
                            "Maintenance",
                            "NewDamageListener",
                            "OfflineCheck",
                            "VolumeCheck",
                            "VolumeDamage",
                            "VolumeHeal",
                            "VolumeScrub")),
            entry(
                    "volume.chunks",
                    Set.of(
                            "ChunkMaintenance",
                            "ChunkVolume",
                            "ChunkVolumeStatistics",
                            "ChunkWalk",
                            "ClientReferences",
                            "StoredChunk")),
            entry("volume.clone", Set.of("CloneReport", "TreeClone")),
            entry("volume.diff", Set.of("Change", "DiffReport", "SnapshotDiff")),
            entry("volume.engine", Set.of("Evacuation", "SpaceCollector", "VolumeCondition")),
            entry("volume.names", Set.of("AccessTimes", "EntryVisitor")),
            entry("volume.node", Set.of("OpenFile")),
            entry("volume.parts", Set.of("SpaceUse", "VolumeStatistics")),
            entry("volume.quota", Set.of("VolumeQuotas")),
            entry("volume.raw", Set.of("FastTier")),
            entry("volume.receive", Set.of("SnapshotReceiver")),
            entry("volume.rewrite", Set.of("Defragmentation", "FileState", "VolumeJoin")),
            entry("volume.send", Set.of("SendReport", "SnapshotSend")),
            entry("volume.snapshot", Set.of("VolumeRollback", "VolumeSnapshots")),
            entry("volume.store", Set.of("CheckFolder", "DeviceCondition", "RemoteStatistics")),
            entry("volume.write", Set.of("UnsavedChanges", "UnsavedChangesException")));

    /**
     * The rooms of the module {@code sdfs-care}, and above them those of {@code sdfs-integration}, ground first. The
     * plugin is built without the latter.
     */
    private static final List<String> SDFS_ROOMS = List.of(
            "config",
            "health",
            "jobs",
            "backup",
            "check",
            "collect",
            "heal",
            "join",
            "scrub",
            "snapshot",
            "wear",
            "http",
            "jmx",
            "metrics",
            "jolokia",
            "cli.report",
            "keys",
            "audit",
            "cli.control",
            "log",
            "fuse",
            "fuse.kernel",
            "restore",
            "cluster",
            "cli.files",
            "cli.command",
            "cli.keys",
            "cli.upstream",
            "cli.mounts",
            "cli.removal",
            "cli.support",
            "cli.daemon",
            "cli.console",
            "cli");

    private static final List<String> FRONT_ENDS = List.of("sdfs", "sim", "plugin");

    /** Each top-level class with the classes nested in it. */
    private static final SliceAssignment TOP_LEVEL_CLASSES = new SliceAssignment() {
        @Override
        public SliceIdentifier getIdentifierOf(JavaClass type) {
            return SliceIdentifier.of(type.getName().replaceFirst("\\$.*", ""));
        }

        @Override
        public String getDescription() {
            return "top-level classes";
        }
    };

    private static final JavaClasses MAIN = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .withImportOption(location -> !location.contains("-tests.jar"))
            .importPackages(ROOT);

    @Test
    void importsGoDownwardOnly() {
        assertAll(LAYERS.keySet().stream().map(layer -> (Executable) () -> checkImports(MAIN, layer)));
    }

    @Test
    void theLayerRuleFindsAnUpwardImport() {
        // The control: these tests' own packages import the model from the crash tests; a wrong declaration must fail.
        JavaClasses tests = new ClassFileImporter().importPackages(ROOT + ".model", ROOT + ".crash");
        DescribedPredicate<JavaClass> model = inLayer("model");
        assertThrows(
                AssertionError.class,
                () -> noClasses()
                        .that(are(inLayer("crash")))
                        .should()
                        .dependOnClassesThat(are(model))
                        .check(tests));
    }

    @Test
    void theIndexKnowsSegmentsOfChunksAndNothingElseOfThem() {
        noClasses()
                .that(are(inLayer("index")))
                .should()
                .dependOnClassesThat(are(inLayer("chunk"))
                        .and(are(describe(
                                "not Segment",
                                (JavaClass type) -> !type.getSimpleName().equals("Segment")))))
                .check(MAIN);
    }

    @Test
    void theSsdKnowsHowContainersAreCompressedAndNothingElseOfThem() {
        noClasses()
                .that(are(inLayer("ssd")))
                .should()
                .dependOnClassesThat(are(inLayer("container"))
                        .and(are(describe(
                                "not of compression",
                                (JavaClass type) -> !type.getSimpleName().startsWith("Compress")
                                        && !type.getName().contains(".Compression$")))))
                .check(MAIN);
    }

    @Test
    void restoreCachePoliciesStandOnTheCommonValuesAlone() {
        // The simulator runs them without the other packages.
        classes()
                .that(are(inLayer("restore.cache")))
                .should()
                .onlyDependOnClassesThat(are(describe(
                        "of restore.cache, of common, of the JDK, or a collection of primitives",
                        (JavaClass type) -> inLayer("restore.cache").test(type)
                                || inLayer("common").test(type)
                                || type.getPackageName().startsWith("java.")
                                || type.getPackageName().startsWith("com.carrotsearch.hppc")
                                || type.getPackageName().startsWith("org.jspecify.")
                                || type.isPrimitive()
                                || type.isArray())))
                .check(MAIN);
    }

    @Test
    void aRoomImportsThoseBeforeItOnly() {
        ROOMS.forEach((layer, rooms) ->
                assertAll(rooms.stream().map(room -> (Executable) () -> checkRoom(layer, rooms, room))));
    }

    @Test
    void theOrderOfRoomsFindsAnImportOfALaterOne() {
        assertThrows(AssertionError.class, () -> checkRoom("metadata", List.of("pending", "record", "db"), "pending"));
    }

    @Test
    void aRoomOfSdfsImportsThoseBeforeItOnly() {
        assertAll(SDFS_ROOMS.stream().map(room -> (Executable) () -> checkRoom("sdfs", SDFS_ROOMS, room)));
        assertThrows(AssertionError.class, () -> checkRoom("sdfs", List.of("jobs", "config"), "jobs"));
        noClasses()
                .that(are(inLayer("sdfs")))
                .should(com.tngtech.archunit.lang.conditions.ArchConditions.be(describe(
                        "in a room without a place in the order",
                        (JavaClass type) -> SDFS_ROOMS.stream()
                                .noneMatch(room -> room("sdfs", room).test(type)))))
                .check(MAIN);
    }

    private static void checkRoom(String layer, List<String> rooms, String room) {
        List<DescribedPredicate<JavaClass>> later = rooms.subList(rooms.indexOf(room) + 1, rooms.size()).stream()
                .map(other -> room(layer, other))
                .toList();
        noClasses()
                .that(are(room(layer, room)))
                .should()
                .dependOnClassesThat(are(
                        describe("of a later room", type -> later.stream().anyMatch(one -> one.test(type)))))
                .check(MAIN);
    }

    private static DescribedPredicate<JavaClass> room(String layer, String room) {
        String name = ROOT + "." + layer + (room.isEmpty() ? "" : "." + room);
        return describe("of room " + name, type -> type.getPackageName().equals(name));
    }

    @Test
    void othersUseARoomThroughItsFaceOnly() {
        checkFaces(FACES);
    }

    @Test
    void theRuleOfFacesFindsAClassThatIsNotDeclared() {
        Map<String, Set<String>> without = new TreeMap<>(FACES);
        without.put("volume.node", Set.of());
        assertThrows(AssertionError.class, () -> checkFaces(without));
    }

    private static void checkFaces(Map<String, Set<String>> faces) {
        ROOMS.forEach((layer, rooms) -> assertAll(rooms.stream()
                .filter(room -> !room.isEmpty() && !OPEN_ROOMS.contains(layer + "." + room))
                .map(room -> (Executable) () -> noClasses()
                        .that(are(inLayer(layer).negate()))
                        .should()
                        .dependOnClassesThat(are(room(layer, room))
                                .and(are(describe(
                                        "not of its face",
                                        type -> !faces.getOrDefault(layer + "." + room, Set.of())
                                                .contains(type.getName()
                                                        .replaceFirst("\\$.*", "")
                                                        .replaceFirst(".*\\.", ""))))))
                        .check(MAIN))));
    }

    @Test
    void roomsAreFreeOfCycles() {
        slices().matching(ROOT + ".(**)").should().beFreeOfCycles().check(MAIN);
    }

    /** The control: one package in two halves, by the classes' names, whose classes use each other. */
    @Test
    void theCycleRuleFindsTwoRoomsThatImportEachOther() {
        SliceAssignment halves = new SliceAssignment() {
            @Override
            public SliceIdentifier getIdentifierOf(JavaClass type) {
                return inLayer("volume").test(type)
                        ? SliceIdentifier.of(type.getSimpleName().compareTo("N") < 0 ? "first" : "second")
                        : SliceIdentifier.ignore();
            }

            @Override
            public String getDescription() {
                return "halves of volume";
            }
        };
        assertThrows(
                AssertionError.class,
                () -> slices().assignedFrom(halves).should().beFreeOfCycles().check(MAIN));
    }

    @Test
    void classesAreFreeOfCycles() {
        slices().assignedFrom(TOP_LEVEL_CLASSES)
                .should()
                .beFreeOfCycles()
                // picocli reads the subcommands of a command from its annotation. They use their parent's options.
                .ignoreDependency(
                        describe("a command with subcommands", ArchitectureTest::hasSubcommands),
                        describe("a command", (JavaClass type) -> type.isAnnotatedWith(Command.class)))
                .check(MAIN);
    }

    private static boolean hasSubcommands(JavaClass type) {
        return type.isAnnotatedWith(Command.class)
                && type.getAnnotationOfType(Command.class).subcommands().length > 0;
    }

    /** The control: two classes of the JDK that use each other. */
    @Test
    void theClassCycleRuleFindsTwoClassesThatUseEachOther() {
        JavaClasses two = new ClassFileImporter().importClasses(String.class, StringBuilder.class);
        assertThrows(
                AssertionError.class,
                () -> slices().assignedFrom(TOP_LEVEL_CLASSES)
                        .should()
                        .beFreeOfCycles()
                        .check(two));
    }

    @Test
    void noPackageIsOutsideTheLayers() {
        noClasses()
                .that()
                .resideInAPackage(ROOT + "..")
                .should(com.tngtech.archunit.lang.conditions.ArchConditions.be(describe(
                        "outside the layers",
                        (JavaClass type) -> LAYERS.keySet().stream()
                                        .noneMatch(layer -> inLayer(layer).test(type))
                                && FRONT_ENDS.stream()
                                        .noneMatch(layer -> inLayer(layer).test(type)))))
                .check(MAIN);
    }

    @Test
    void noStaticStateChanges() {
        fields().that()
                .areStatic()
                .should()
                .beFinal()
                .andShould()
                .notHaveRawType(describe(
                        "shared mutable",
                        (JavaClass type) -> type.getPackageName().equals("java.util.concurrent.atomic")
                                || type.isAssignableTo(ConcurrentMap.class)
                                || type.isAssignableTo(ThreadLocal.class)))
                .check(MAIN);
    }

    @Test
    void nothingIsSerializedByJava() {
        noClasses()
                .should()
                .dependOnClassesThat()
                .belongToAnyOf(ObjectInputStream.class, ObjectOutputStream.class, Externalizable.class)
                .check(MAIN);
        noClasses()
                .that()
                .areNotAssignableTo(Throwable.class)
                .should(com.tngtech.archunit.lang.conditions.ArchConditions.be(describe(
                        "declared Serializable",
                        (JavaClass type) -> type.getRawInterfaces().stream()
                                .anyMatch(declared -> declared.isEquivalentTo(Serializable.class)))))
                .check(MAIN);
    }

    @Test
    void storedBytesAreReadAndWrittenInOnePlace() {
        noClasses()
                .that(are(inLayer("io").negate()))
                // RocksDB's package reads and cuts the logs of the metadata's database, and the file of the
                // acknowledged number.
                .and(are(describe(
                        "no keeper of a database's files",
                        (JavaClass type) ->
                                !DATABASE_FILES.contains(type.getName().replaceFirst("\\$.*", "")))))
                .should()
                .dependOnClassesThat()
                .belongToAnyOf(
                        FileChannel.class,
                        AsynchronousFileChannel.class,
                        RandomAccessFile.class,
                        FileInputStream.class,
                        FileOutputStream.class,
                        FileReader.class,
                        FileWriter.class)
                .check(MAIN);
    }

    @Test
    void terminalsAreWrittenToInOnePlace() {
        // Where names that would control them are escaped.
        noClasses()
                .that(are(inLayer("sdfs")))
                .and()
                .doNotHaveSimpleName("Environment")
                .should()
                .accessField(System.class, "out")
                .orShould()
                .accessField(System.class, "err")
                .check(MAIN);
    }

    /** A process gets the variables of the one that starts it. Those of a daemon have no passphrases. */
    @Test
    void noProcessThatACommandStartsGetsAPassphrase() {
        checkStartedProcesses(Set.of("FusermountMounter", "UnmountHelper", "Smartctl"));
    }

    @Test
    void theRuleOfStartedProcessesFindsOneThatGetsAll() {
        assertThrows(AssertionError.class, () -> checkStartedProcesses(Set.of("UnmountHelper", "Smartctl")));
    }

    private static void checkStartedProcesses(Set<String> ofDaemon) {
        classes()
                .that(are(inLayer("sdfs")))
                .and(are(describe(
                        "starting processes outside of a daemon",
                        (JavaClass type) -> !ofDaemon.contains(type.getSimpleName())
                                && type.getConstructorCallsFromSelf().stream()
                                        .anyMatch(call -> call.getTargetOwner().isEquivalentTo(ProcessBuilder.class)))))
                .should()
                .callMethod(SecretSource.class, "withoutSecrets", ProcessBuilder.class)
                .check(MAIN);
    }

    @Test
    void theClassesOfTheEngineWereFound() {
        assertFalse(MAIN.stream()
                .noneMatch(type -> type.getName().equals(ROOT + ".volume.Volume")
                        && type.getModifiers().contains(JavaModifier.PUBLIC)));
    }

    private static void checkImports(JavaClasses classes, String layer) {
        Set<String> allowed = LAYERS.get(layer);
        classes()
                .that(are(inLayer(layer)))
                .should()
                .onlyDependOnClassesThat(are(describe(
                        "of " + layer + ", below it or not of the project",
                        (JavaClass type) -> !type.getPackageName().startsWith(ROOT)
                                || inLayer(layer).test(type)
                                || allowed.stream()
                                        .anyMatch(below -> inLayer(below).test(type)))))
                .check(classes);
    }

    private static DescribedPredicate<JavaClass> inLayer(String layer) {
        String name = ROOT + "." + layer;
        return describe(
                "in " + layer,
                type -> type.getPackageName().equals(name)
                        || type.getPackageName().startsWith(name + "."));
    }
}

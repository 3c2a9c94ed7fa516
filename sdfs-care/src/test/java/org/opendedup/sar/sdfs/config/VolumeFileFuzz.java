package org.opendedup.sar.sdfs.config;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.opendedup.sar.fuzz.FuzzFolder;
import org.opendedup.sar.fuzz.ParserSet;

/** The volume file and the values in it. A file of an administrator may contain anything that XML allows. */
public final class VolumeFileFuzz {
    private static final String FILE = """
            <?xml version="1.0" encoding="UTF-8"?>
            <subsystem-config version="2">
              <locations base-path="/tmp/v" dedup-db-store="/tmp/v/ddb"/>
              <io chunk-size="256KB" hash-type="VARIABLE_SHA256" write-threads="2" memory-budget="512MB" \
            claim-hash-schedule="0 0 12 ? * SUN" scrub-schedule="0 0 3 ? * SUN#1"
            snapshot-schedule="0 0 * * * ?" snapshot-keep="hourly=24,daily=7"/>
              <permissions default-file="0644" default-folder="0755" default-owner="0" default-group="0"/>
              <volume name="v" capacity="10GB" maximum-percentage-full="95"/>
              <sdfscli enable="false"/>
              <metadata-backup interval="6h" keep="4"/>
              <local-chunkstore chunk-store="/tmp/v/chunks" hash-db-store="/tmp/v/hdb" hashdb-class="rocksdb" \
            compress="zstd" compress-level="1" recompress="off">
                <extended-config frame-size="64KB"/>
              </local-chunkstore>
              <sar enabled="false" reference-count-threshold="5" max-run="128KB" promote-on-read="true" \
            lru-entries="1000000" policy="reference-count"/>
              <restore cache="default" log-share="0.25" disk="auto"/>
            </subsystem-config>
            """;

    private static final String WITH_FAST_TIER = FILE.replace(
                    "<sar enabled=\"false\"", "<sar enabled=\"true\" ssd-location=\"/ssd/v\" ssd-capacity=\"1GB\"")
            .replace(
                    "<restore",
                    "<fast-tier mode=\"tddfs\" capacity=\"3GB\" high=\"85\" low=\"70\" journal=\"60\" policy=\"mixed\"/><restore");

    private static final String EXTERNAL = """
            <?xml version="1.0"?>
            <!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>
            <subsystem-config version="2"><volume name="&x;"/></subsystem-config>
            """;

    private static final String LAUGHS = """
            <?xml version="1.0"?>
            <!DOCTYPE a [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;">
            <!ENTITY d "&c;&c;&c;&c;&c;&c;&c;&c;"><!ENTITY e "&d;&d;&d;&d;&d;&d;&d;&d;">
            <!ENTITY f "&e;&e;&e;&e;&e;&e;&e;&e;"><!ENTITY g "&f;&f;&f;&f;&f;&f;&f;&f;">]>
            <subsystem-config version="2"><volume name="&g;"/></subsystem-config>
            """;

    private static final List<Class<? extends Exception>> REFUSED = List.of(IllegalArgumentException.class);

    private static final ParserSet PARSERS = new ParserSet()
            .addDeclaring(
                    "volume file",
                    List.of(VolumeFileException.class),
                    VolumeFileFuzz::file,
                    bytes(FILE),
                    bytes(WITH_FAST_TIER),
                    bytes(EXTERNAL),
                    bytes(LAUGHS))
            .addDeclaring("schedule", REFUSED, b -> Schedule.parse(text(b)), bytes("0 0 3 ? * SUN#1"), bytes("off"))
            .addDeclaring("recompress", REFUSED, b -> RecompressLevel.parse(text(b)), bytes("zstd:9"))
            .addDeclaring("journal", REFUSED, b -> VolumeOptions.TIER_JOURNAL.parse(text(b)), bytes("60"), bytes("off"))
            .addDeclaring("backup interval", REFUSED, b -> BackupSettings.of(text(b), 3), bytes("6h"));

    private VolumeFileFuzz() {}

    public static ParserSet parsers() {
        return PARSERS;
    }

    public static void fuzzerTestOneInput(byte[] input) {
        PARSERS.parse(input);
    }

    private static void file(byte[] bytes) throws IOException {
        Path folder = FuzzFolder.emptied();
        Path file = folder.resolve("v-volume-cfg.xml");
        Files.write(file, bytes);
        VolumeDefinition definition = VolumeFile.read(file);
        Path again = folder.resolve("again.xml");
        VolumeFile.write(again, definition);
        if (!VolumeFile.read(again).equals(definition)) {
            throw new AssertionError("a volume file that changes when it is written and read");
        }
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }
}

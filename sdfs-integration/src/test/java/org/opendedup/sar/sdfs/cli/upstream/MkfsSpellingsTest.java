package org.opendedup.sar.sdfs.cli.upstream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What becomes of the options of OpenDedup's mkfs.sdfs. */
class MkfsSpellingsTest {
    private final List<String> notes = new ArrayList<>();

    private List<String> translated(String... arguments) {
        return MkfsSpellings.translated(List.of(arguments), notes::add);
    }

    private String refused(String... arguments) {
        return String.valueOf(assertThrows(IllegalArgumentException.class, () -> translated(arguments))
                .getMessage());
    }

    @Test
    void ourOwnSpellingsStayAsTheyAre() {
        String[] ours = {
            "--volume-name=pool0",
            "--volume-capacity",
            "1TB",
            "--chunk-store-compress=zstd:3",
            "--io-chunk-size=256KB",
            "--chunk-store-hashdb-class=silo",
            "--backup-volume",
            "--help"
        };
        assertEquals(List.of(ours), translated(ours));
        assertEquals(List.of(), notes);
    }

    @ParameterizedTest
    @CsvSource({
        "--chunk-store-compress=true, --chunk-store-compress=zstd",
        "--chunk-store-compress=false, --chunk-store-compress=none",
        "--io-chunk-size=256, --io-chunk-size=256KB",
        "--chunk-store-encrypt=true, --encrypt",
        "--sdfs-base-path=/srv/pool0, --base-path=/srv/pool0",
        "--chunk-store-gc-schedule=off, --io-claim-chunks-schedule=off"
    })
    void spellingsAreTranslated(String theirs, String ours) {
        assertEquals(List.of(ours), translated(theirs));
        assertEquals(List.of(ours, "--json"), translated(theirs.split("=")[0], theirs.split("=")[1], "--json"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "--io-safe-sync=true",
                "--io-safe-close=false",
                "--chunk-store-size=1TB",
                "--sdfscli-listen-port=6442",
                "--sdfscli-listen-addr=0.0.0.0",
                "--sdfscli-require-auth=true",
                "--aws-enabled=false",
                "--chunk-store-encrypt=false"
            })
    void whatHasNoMeaningIsLeftOutWithANote(String option) {
        assertEquals(List.of("--json"), translated(option, "--json"));
        assertEquals(1, notes.size());
        assertTrue(notes.get(0).startsWith(option.split("=")[0]), notes::toString);
        assertEquals(List.of("--json"), translated(option.split("=")[0], option.split("=")[1], "--json"));
    }

    @Test
    void aFlagBeforeAnotherOptionHasNoValue() {
        assertEquals(List.of("--volume-name=a"), translated("--sdfscli-disable-ssl", "--volume-name=a"));
    }

    @ParameterizedTest
    @CsvSource({
        "--aws-enabled=true, --object-store=s3://",
        "--cloud-bucket-name=backups, --object-store=s3://",
        "--azure-enabled=true, --object-store=s3://",
        "--google-enabled=true, --object-store=s3://",
        "--encrypt-config=true, --passphrase-file",
        "--chunk-store-encryption-key=abc, --passphrase-file",
        "--chunkstore-class=org.opendedup.sar.plugin.SarChunkStore, PLUGIN.md",
        "--chunk-store-hashdb-class=org.opendedup.collections.RocksDBMap, silo"
    })
    void whatIsNotSupportedIsRefusedWithTheWayOut(String option, String way) {
        String message = refused("--volume-name=a", option);
        assertTrue(message.startsWith(option.split("=")[0] + " is not supported here: "), message);
        assertTrue(message.contains(way), message);
    }

    @Test
    void noMessageHasASecret() {
        translated("--sdfscli-password=hunter2");
        assertFalse(notes.toString().contains("hunter2"), notes::toString);
        assertFalse(refused("--cloud-secret-key=hunter2").contains("hunter2"));
        assertFalse(refused("--chunk-store-encryption-key", "hunter2").contains("hunter2"));
    }
}

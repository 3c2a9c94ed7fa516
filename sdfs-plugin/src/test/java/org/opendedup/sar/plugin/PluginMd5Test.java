package org.opendedup.sar.plugin;

/** The same with the fingerprints of 16 bytes that SDFS 3.12.0 has by default. */
class PluginMd5Test extends PluginContractTest {
    @Override
    String algorithm() {
        return "MD5";
    }
}

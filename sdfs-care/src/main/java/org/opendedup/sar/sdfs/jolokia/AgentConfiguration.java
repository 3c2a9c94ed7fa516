package org.opendedup.sar.sdfs.jolokia;

import java.util.Map;
import java.util.Set;
import org.jolokia.server.core.config.ConfigKey;
import org.jolokia.server.core.config.Configuration;
import org.jolokia.server.core.service.api.SecurityDetails;
import org.jspecify.annotations.Nullable;

/** Fixed settings of Jolokia. Its own class asks name servers about each network interface when it is made. */
record AgentConfiguration(Map<ConfigKey, String> values) implements Configuration {
    @Override
    public @Nullable String getConfig(ConfigKey key) {
        return values.getOrDefault(key, key.getDefaultValue());
    }

    @Override
    public Set<ConfigKey> getConfigKeys() {
        return values.keySet();
    }

    @Override
    public boolean containsKey(ConfigKey key) {
        return values.containsKey(key);
    }

    /** Nobody connects to it by a network. */
    @Override
    public Map<String, String> getNetworkConfig() {
        return Map.of();
    }

    @Override
    public SecurityDetails getSecurityDetails() {
        return new SecurityDetails();
    }
}
